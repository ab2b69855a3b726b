import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Checkout, HERE } from './checkout.ts';

/** The folders of workers; the second is that of earlier commits. */
const FOLDERS = ['bench/workers', 'bench'];

/**
 * Starts a module in its own process, with the argument as JSON in `process.argv[2]`. `worker` is the name of a file in
 * `bench/workers` of a checkout, or the URL of another file.
 */
export function startWorker(worker: string | URL, argument: object, checkout = HERE): ChildProcess {
  const file = typeof worker === 'string' ? workerOf(checkout, worker) : fileURLToPath(worker);
  return fork(file, [JSON.stringify(argument)], { execArgv: ['--import', 'tsx'] });
}

function workerOf({ root }: Checkout, name: string): string {
  const file = FOLDERS.map((folder) => join(root, folder, `${name}.ts`)).find((each) => existsSync(each));
  if (file === undefined) throw new Error(`${root} has no worker ${name}`);
  return file;
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
export async function runWorker<T>(name: string, argument: object, checkout = HERE): Promise<T> {
  const worker = startWorker(name, argument, checkout);
  const message = await nextMessage<T>(worker);
  if (worker.connected) worker.disconnect();
  return message;
}
