/** Loads a compiled module, so that no loader of TypeScript is part of the measurement. */
export const built = async <T>(file: string): Promise<T> =>
  (await import(new URL(`../../.modules/${file}.js`, import.meta.url).href)) as T;
