/** Loads a module from `dist`, so that no loader of TypeScript is part of the measurement. */
export const built = async <T>(file: string): Promise<T> =>
  (await import(new URL(`../../dist/${file}.js`, import.meta.url).href)) as T;
