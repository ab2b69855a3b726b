import { request } from 'node:http';

/** A request for a list of events, read in a process of its own so that reading it does not delay the measurements. */
export interface ListRequest {
  port: number;
  path: string;
  authorization: string;
}

export interface ListRead {
  bytes: number;
  events: number;
  ms: number;
}

const { port, path, authorization } = JSON.parse(process.argv[2] ?? '{}') as ListRequest;
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
