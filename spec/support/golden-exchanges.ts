import { type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import { ADMIN } from './api-client.ts';
import { forgedToken, type Forgery } from './forged-token.ts';
import { readGolden } from './golden-file.ts';
import { difference, exactDifference } from './golden-match.ts';
import { withException } from './golden-exceptions.ts';
import { at } from './json-path.ts';

interface Exchange {
  method: string;
  path: string;
  headers?: Record<string, string | null>;
  body?: unknown;
  text?: string;
}

interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: unknown;
  text?: string;
  /** Names of the objects of a list, in order; the name of an event is `<namespace>/<entity>/<check>`. */
  names?: string[];
}

interface Step {
  request?: Exchange;
  /** Requests sent at once; only the number of answers of each status is compared. */
  parallel?: Exchange[];
  statuses?: Record<string, number>;
  /** Changes the token `from` and keeps it as `as`. */
  forge?: Forgery & { as: string; from: string };
  response?: Answer;
  /** The service's answer where it differs from `response`; absent members are not compared. */
  ours?: Answer;
  keep?: Record<string, string | { header: string; after?: string }>;
  /** The message comes from a parser and may be any text. */
  free?: boolean;
  sleep?: number;
  /** If set, the step applies to the reference only and is skipped. */
  only?: 'reference';
}

/** The namespace of the backend's own entity, in the recordings and here. */
const [THEIR_NAMESPACE, OUR_NAMESPACE] = ['sensu-system', 'mon-system'];

interface Received {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** Replaces a wait of the recording. Most waits are needed by the reference only. */
export type Wait = (ms: number) => Promise<void>;

/** Replays recorded HTTP exchanges in order. `file` is relative to `spec/golden`. @throws with file and step if an answer differs */
export async function playExchanges(file: string, port: number, wait: Wait = () => Promise.resolve()): Promise<void> {
  const { steps } = JSON.parse(readGolden(file).replaceAll(THEIR_NAMESPACE, OUR_NAMESPACE)) as { steps: Step[] };
  const kept: Record<string, string> = { admin: await adminToken(port), base: `http://127.0.0.1:${port}` };
  // The recordings of auth/ contain their own credentials.
  const usual: Exchange['headers'] = file.startsWith('auth/') ? {} : { authorization: 'Bearer ${admin}' };
  /** The answer that creates a key is the only one that contains it; later answers show another UUID instead. */
  const shown: Record<string, string> = {};
  for (const [index, step] of steps.entries()) {
    if (step.only === 'reference') continue;
    await wait(step.sleep ?? 0);
    if (step.forge !== undefined) kept[step.forge.as] = forgedToken(filledIn(step.forge.from, kept), step.forge);
    await playAtOnce(step, (request) =>
      exchange(port, { ...request, headers: { ...usual, ...request.headers } }, kept),
    );
    if (step.request === undefined) continue;
    const received = await exchange(port, { ...step.request, headers: { ...usual, ...step.request.headers } }, kept);
    const recorded = step.ours ?? step.response ?? { status: 200 };
    const expected = withException(file, index + 1, recorded) as Answer;
    const found = answerDifference(step, expected, received, { ...kept, ...shown });
    if (found !== undefined) {
      const { method, path } = step.request;
      throw new Error(`${file} step ${index + 1} (${method} ${path}): ${found}; answered ${received.text}`);
    }
    for (const [name, from] of Object.entries(step.keep ?? {})) {
      kept[name] = valueAt(received, from);
      if (typeof from === 'object' && from.header === 'location') shown[name] = '<uuid>';
    }
  }
}

async function playAtOnce({ parallel, statuses }: Step, send: (request: Exchange) => Promise<Received>): Promise<void> {
  if (parallel === undefined) return;
  const counted: Record<string, number> = {};
  for (const { status } of await Promise.all(parallel.map(send))) counted[status] = (counted[status] ?? 0) + 1;
  const found = exactDifference(statuses, counted);
  if (found !== undefined)
    throw new Error(`${parallel[0]?.method} ${parallel[0]?.path}, ${parallel.length} at once: ${found}`);
}

async function adminToken(port: number): Promise<string> {
  const basic = Buffer.from(`${ADMIN.username}:${ADMIN.password}`).toString('base64');
  const { text } = await exchange(
    port,
    { method: 'GET', path: '/auth', headers: { authorization: `Basic ${basic}` } },
    {},
  );
  return String(at(JSON.parse(text), 'access_token'));
}

function exchange(port: number, { method, path, headers, body, text }: Exchange, kept: Record<string, string>) {
  const payload = text ?? (body === undefined ? undefined : JSON.stringify(body));
  const type = payload === undefined ? {} : { 'content-type': 'application/json' };
  const all = { ...type, ...headers };
  const sent = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null);
  const target = {
    host: '127.0.0.1',
    port,
    method,
    path: filledIn(path, kept),
    headers: Object.fromEntries(sent.map(([name, value]) => [name, filledIn(value, kept)])),
  };
  return new Promise<Received>((resolve, reject) => {
    const outgoing = httpRequest(target, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const { statusCode = 0 } = incoming;
        resolve({ status: statusCode, headers: incoming.headers, text: Buffer.concat(chunks).toString() });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(payload === undefined ? undefined : filledIn(payload, kept));
  });
}

/**
 * Replaces placeholders: `${name}` by the kept value, `${base64:x}` by x in base64, `${repeat:x:n}` by n times x, and `"${now+n}"` by
 * the Unix time in n seconds.
 */
const filledIn = (text: string, kept: Record<string, string>): string =>
  text
    .replace(NOW, (_, shift: string) => String(Math.floor(Date.now() / 1000) + Number(shift)))
    .replace(/\$\{repeat:([^:}]*):(\d+)\}/g, (_, part: string, times: string) => part.repeat(Number(times)))
    .replace(/\$\{(base64:)?([^}]+)\}/g, (_, isBase64: string | undefined, name: string) =>
      isBase64 === undefined ? (kept[name] ?? '') : Buffer.from(name).toString('base64'),
    );

const NOW = /"\$\{now([+-]\d+)\}"/g;

function valueAt({ headers, text }: Received, from: string | { header: string; after?: string }): string {
  if (typeof from === 'string') return String(at(JSON.parse(text), ...from.split('.')));
  const value = String(headers[from.header]);
  return from.after === undefined ? value : value.slice(value.lastIndexOf(from.after) + from.after.length);
}

function answerDifference(
  step: Step,
  expected: Answer,
  received: Received,
  kept: Record<string, string>,
): string | undefined {
  if (expected.status !== received.status) return `expected status ${expected.status}, got ${received.status}`;
  return (
    headerDifference(expected, received) ??
    tokenDifference(step, received) ??
    bodyDifference(step, expected, received, kept)
  );
}

function headerDifference({ headers = {} }: Answer, received: Received): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'content-type' && received.status >= 400) continue;
    const found = difference(value, received.headers[name], name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A list must not offer a next page where the recording has none. */
function tokenDifference({ ours, response }: Step, received: Received): string | undefined {
  if (ours !== undefined || received.headers['sensu-continue'] === undefined) return undefined;
  return response?.headers?.['sensu-continue'] === undefined ? 'unexpected Sensu-Continue' : undefined;
}

function bodyDifference(
  { free }: Step,
  { body, text, names }: Answer,
  received: Received,
  kept: Record<string, string>,
): string | undefined {
  if (names !== undefined) return exactDifference(names, namesIn(received));
  if (body === undefined) return text === undefined ? undefined : difference(text, received.text);
  const wanted: unknown = JSON.parse(filledIn(JSON.stringify(lowerCased(body, received.status)), kept));
  const actual: unknown = JSON.parse(received.text);
  if (free === true) return difference({ message: '<string>', code: at(wanted, 'code') }, actual);
  return exactDifference(wanted, actual);
}

interface Named {
  name?: string;
  username?: string;
  metadata?: { name?: string };
  entity?: { metadata: { namespace: string; name: string } };
  check?: { metadata: { name: string } };
}

const namesIn = ({ text }: Received): (string | undefined)[] =>
  (JSON.parse(text) as Named[]).map(({ entity, check, metadata, name, username }) =>
    entity === undefined
      ? (metadata?.name ?? name ?? username)
      : `${entity.metadata.namespace}/${entity.metadata.name}/${check?.metadata.name}`,
  );

/** Lowers the member names of errors 401 and 403, which the reference writes with capitals. */
const lowerCased = (body: unknown, status: number): unknown =>
  status === 401 || status === 403
    ? Object.fromEntries(Object.entries(body as object).map(([name, value]) => [name.toLowerCase(), value as unknown]))
    : body;
