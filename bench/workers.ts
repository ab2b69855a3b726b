import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Starts a worker file of this folder in a process of its own; it finds the argument as JSON in `process.argv[2]`. */
export function startWorker(file: string, argument: object): ChildProcess {
  return fork(fileURLToPath(new URL(file, import.meta.url)), [JSON.stringify(argument)], {
    execArgv: ['--import', 'tsx'],
  });
}

/** What the worker sends next. Rejects when it ends instead. */
export function nextMessage<T>(worker: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    // Comes after the last message, in contrast to `exit`.
    const ended = (): void => {
      reject(new Error(`${worker.spawnargs.at(-2)} ended without an answer`));
    };
    worker.once('disconnect', ended);
    worker.once('message', (message) => {
      worker.off('disconnect', ended);
      resolve(message as T);
    });
  });
}

/** Runs a worker, and resolves with the one message it sends. */
export async function runWorker<T>(file: string, argument: object): Promise<T> {
  const worker = startWorker(file, argument);
  const message = await nextMessage<T>(worker);
  if (worker.connected) worker.disconnect();
  return message;
}
