/** A module as it is shipped: what is measured does not come through a loader that adds its own work. */
export const built = async <T>(file: string): Promise<T> =>
  (await import(new URL(`../../dist/${file}.js`, import.meta.url).href)) as T;
