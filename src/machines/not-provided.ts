/** Stands for an effect that `provide` must replace, with its parameters; a missing wire then fails its first test. */
export function notProvided<TParams = unknown>(name: string): (args: unknown, params: TParams) => never {
  return () => {
    throw new Error(`effect ${name} is not provided`);
  };
}
