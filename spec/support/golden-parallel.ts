/** Every play may need programs of its own: with more of them the machine's waits would become the recordings'. */
const MAX_AT_ONCE = 5;

/**
 * A test for each name. They are played side by side, because recordings wait in real time; what goes wrong waits for its own test.
 * Hooks of the caller that stop what is played on come after this.
 */
export function itReplaysInParallel(names: readonly string[], play: (name: string) => Promise<void>): void {
  const outcomes: Promise<unknown>[] = [];

  before(() => {
    for (const [index, name] of names.entries()) {
      const free = outcomes[index - MAX_AT_ONCE] ?? Promise.resolve();
      outcomes.push(free.then(() => play(name)).catch((error: unknown) => error));
    }
  });

  after(() => Promise.all(outcomes));

  for (const [index, name] of names.entries()) {
    it(`${name} is as it was recorded`, async () => {
      const failure = await outcomes[index];
      if (failure instanceof Error) throw failure;
    });
  }
}
