/** Stands for an effect that `provide` must replace; a missing wire then fails its first test. */
export function notProvided(name: string): () => never {
  return () => {
    throw new Error(`effect ${name} is not provided`);
  };
}
