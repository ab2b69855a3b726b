import { request } from 'node:http';

/** A list of events to be read in a process of its own, so that reading it slows nobody who measures. */
export interface ListToRead {
  port: number;
  path: string;
  authorization: string;
}

export interface ListRead {
  bytes: number;
  events: number;
  ms: number;
}

const { port, path, authorization } = JSON.parse(process.argv[2] ?? '{}') as ListToRead;
const startedAt = performance.now();

request({ host: '127.0.0.1', port, path, headers: { authorization } }, (answer) => {
  const chunks: Buffer[] = [];
  answer.on('data', (chunk: Buffer) => chunks.push(chunk));
  answer.on('end', () => {
    const ms = performance.now() - startedAt;
    const body = Buffer.concat(chunks);
    const events = (JSON.parse(body.toString()) as unknown[]).length;
    process.send?.({ bytes: body.length, events, ms } satisfies ListRead, () => process.exit(0));
  });
}).end();
