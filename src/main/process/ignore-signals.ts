/** Ignores SIGUSR2, which ends a program that has no handler for it. Node.js ignores SIGPIPE by itself. Source: spec/06 4.5. */
export function ignoreSignals(): void {
  process.on('SIGUSR2', () => undefined);
}
