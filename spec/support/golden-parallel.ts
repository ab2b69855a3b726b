/** Each replay may start programs of its own; more of them would delay one another. */
const MAX_PARALLEL = 5;

/**
 * Declares a test for each name. All recordings are replayed in parallel, because they wait in real time; an error is reported by the
 * recording's own test. Declare hooks that stop the backend after this call.
 */
export function itReplaysInParallel(names: readonly string[], play: (name: string) => Promise<void>): void {
  const outcomes: Promise<unknown>[] = [];

  before(() => {
    for (const [index, name] of names.entries()) {
      const free = outcomes[index - MAX_PARALLEL] ?? Promise.resolve();
      outcomes.push(free.then(() => play(name)).catch((error: unknown) => error));
    }
  });

  after(() => Promise.all(outcomes));

  for (const [index, name] of names.entries()) {
    it(`replays ${name} without a difference`, async () => {
      const failure = await outcomes[index];
      if (failure instanceof Error) throw failure;
    });
  }
}
