/** A placeholder for an effect, with its parameters. It throws unless `provide` replaces it. */
export function notProvided<TParams = unknown>(name: string): (args: unknown, params: TParams) => never {
  return () => {
    throw new Error(`effect ${name} is not provided`);
  };
}
