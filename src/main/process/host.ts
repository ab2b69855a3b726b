import type { Clock } from '../../ports/clock.ts';
import type { Environment } from './hide-secrets.ts';
import { systemClock } from './system-clock.ts';

/** The parts of its process that a program uses. Tests replace it to run the program in their own process. */
export interface Host {
  /** The variables that the program was started with, its secrets included. */
  readonly environment: Environment;
  /** The width of the terminal; undefined without a terminal. */
  readonly columns: number | undefined;
  readonly clock: Clock;
  print(text: string): void;
  /** Calls `handle` at each of these signals, which otherwise ends the program. */
  on(signal: NodeJS.Signals, handle: (signal: NodeJS.Signals) => void): void;
  /** Ends the program. */
  exit(code: number): void;
}

/** The real process. `exit` is called to end it. */
export const processHost = (environment: Environment, exit: Host['exit']): Host => ({
  environment,
  columns: process.stdout.columns,
  clock: systemClock,
  print: (text) => void process.stdout.write(text),
  on: (signal, handle) => void process.on(signal, handle),
  exit,
});
