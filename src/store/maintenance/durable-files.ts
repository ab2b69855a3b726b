import { createHash } from 'node:crypto';
import { closeSync, createReadStream, fsyncSync, openSync } from 'node:fs';

/** The owner of the state directory alone may read what is stored. */
export const DIRECTORY_MODE = 0o700;
export const FILE_MODE = 0o600;

/** Makes a file, or the names in a directory, durable. */
export function flush(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** SHA-256 of a file, in hexadecimal digits. @throws the reason of `signal` */
export async function digestOf(path: string, signal: AbortSignal): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of createReadStream(path, { signal })) digest.update(chunk as Buffer);
  return digest.digest('hex');
}

/** Waits for one tick of the event loop, so that signals of the process are handled. @throws the reason of `signal` */
export async function yieldToEventLoop(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => void setImmediate(resolve));
  signal.throwIfAborted();
}
