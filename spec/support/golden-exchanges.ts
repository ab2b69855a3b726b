import { type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import { ADMIN } from './api-client.ts';
import { readGolden } from './golden-file.ts';
import { difference, exactDifference } from './golden-match.ts';
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
}

interface Step {
  request?: Exchange;
  response?: Answer;
  /** Answered by the service in place of `response`; what it lacks is not compared. */
  ours?: Answer;
  keep?: Record<string, string | { header: string; after?: string }>;
  /** The message is a parser's: any will do. */
  free?: boolean;
  sleep?: number;
}

interface Received {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
}

/** Which steps of a recording are played, by their numbers from 1: the others need what the service has not got yet. */
export type Selection = (step: number, exchange: Exchange) => boolean;

/** What to do where the recording waited; mostly only the reference needs to. */
export type Sleep = (ms: number) => Promise<void>;

/** Plays recorded exchanges of HTTP, in order. `file` is relative to `spec/golden`. @throws naming file and step where the answer differs */
export async function playExchanges(
  file: string,
  port: number,
  selected: Selection = () => true,
  sleep: Sleep = () => Promise.resolve(),
): Promise<void> {
  const { steps } = JSON.parse(readGolden(file)) as { steps: Step[] };
  const kept: Record<string, string> = { admin: await adminToken(port) };
  for (const [index, step] of steps.entries()) {
    await sleep(step.sleep ?? 0);
    if (step.request === undefined || !selected(index + 1, step.request)) continue;
    const received = await exchange(port, step.request, kept);
    const found = answerDifference(step, received, kept);
    if (found !== undefined) {
      const { method, path } = step.request;
      throw new Error(`${file} step ${index + 1} (${method} ${path}): ${found}; answered ${received.text}`);
    }
    for (const [name, from] of Object.entries(step.keep ?? {})) kept[name] = valueAt(received, from);
  }
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
  const all = { authorization: 'Bearer ${admin}', ...type, ...headers };
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

/** `${name}` is what was kept, `${base64:x}` is x in base64, `"${now+n}"` is n seconds after the present one. */
const filledIn = (text: string, kept: Record<string, string>): string =>
  text
    .replace(NOW, (_, shift: string) => String(Math.floor(Date.now() / 1000) + Number(shift)))
    .replace(/\$\{(base64:)?([^}]+)\}/g, (_, isBase64: string | undefined, name: string) =>
      isBase64 === undefined ? (kept[name] ?? '') : Buffer.from(name).toString('base64'),
    );

const NOW = /"\$\{now([+-]\d+)\}"/g;

function valueAt({ headers, text }: Received, from: string | { header: string; after?: string }): string {
  if (typeof from === 'string') return String(at(JSON.parse(text), ...from.split('.')));
  const value = String(headers[from.header]);
  return from.after === undefined ? value : value.slice(value.lastIndexOf(from.after) + from.after.length);
}

function answerDifference(step: Step, received: Received, kept: Record<string, string>): string | undefined {
  const expected = step.ours ?? step.response ?? { status: 200 };
  if (expected.status !== received.status) return `expected status ${expected.status}, got ${received.status}`;
  return headerDifference(expected, received) ?? bodyDifference(step, expected, received, kept);
}

function headerDifference({ headers = {} }: Answer, received: Received): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    if (name === 'content-type' && received.status >= 400) continue;
    const found = difference(value, received.headers[name], name);
    if (found !== undefined) return found;
  }
  const isUnexpected = received.headers['sensu-continue'] !== undefined && headers['sensu-continue'] === undefined;
  return isUnexpected ? 'unexpected Sensu-Continue' : undefined;
}

function bodyDifference(
  { free }: Step,
  { body, text }: Answer,
  received: Received,
  kept: Record<string, string>,
): string | undefined {
  if (body === undefined) return text === undefined ? undefined : difference(text, received.text);
  const wanted: unknown = JSON.parse(filledIn(JSON.stringify(lowerCased(body, received.status)), kept));
  const actual: unknown = JSON.parse(received.text);
  if (free === true) return difference({ message: '<string>', code: at(wanted, 'code') }, actual);
  return exactDifference(wanted, actual);
}

/** The reference writes the members of a refusal with capitals. */
const lowerCased = (body: unknown, status: number): unknown =>
  status === 401 || status === 403
    ? Object.fromEntries(Object.entries(body as object).map(([name, value]) => [name.toLowerCase(), value as unknown]))
    : body;
