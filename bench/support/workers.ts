import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * Starts a module in its own process, with the argument as JSON in `process.argv[2]`. `worker` is the name of a file in
 * `bench/workers`, or the URL of another one.
 */
export function startWorker(worker: string | URL, argument: object): ChildProcess {
  const file = typeof worker === 'string' ? new URL(`../workers/${worker}.ts`, import.meta.url) : worker;
  return fork(fileURLToPath(file), [JSON.stringify(argument)], {
    execArgv: ['--import', 'tsx'],
  });
}

/** The next message of the worker. Rejects if the worker ends first. */
export function nextMessage<T>(worker: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    // Unlike `exit`, it follows the last message.
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

/** Runs a worker and resolves with its only message. */
export async function runWorker<T>(name: string, argument: object): Promise<T> {
  const worker = startWorker(name, argument);
  const message = await nextMessage<T>(worker);
  if (worker.connected) worker.disconnect();
  return message;
}
