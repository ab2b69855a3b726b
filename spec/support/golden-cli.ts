import { hash } from '@node-rs/bcrypt';
import { parseEntityShape, type System } from '../../src/resources/entity.ts';
import { type ApiAnswer, ApiClient } from './api-client.ts';
import { expectedAnswer, type RecordedAnswer, type RecordedRequest } from './golden-cli-differences.ts';
import { readGolden } from './golden-file.ts';
import { difference, exactDifference } from './golden-match.ts';
import { at } from './json-path.ts';

interface Command {
  argv: string[];
  exchanges: { request: RecordedRequest; response: RecordedAnswer }[];
  /** Values to keep: name and regular expression for the `Location` of the answer. */
  keep?: Record<string, string>;
}

interface Tokens {
  access_token: string;
  refresh_token: string;
}

/** A command, a wait, or a change of the client's configuration file. */
type Step = Command | { waitMs: number } | { editConfig: Partial<Tokens> };

export interface CliBackend {
  port: number;
  nowMs(): number;
  wait(ms: number): Promise<void>;
}

const LOWEST_BCRYPT_COST = 4;
/** Headers that the recorded client sends with every request, `GET` and `DELETE` included. */
const USUAL_HEADERS = { accept: 'application/json', 'content-type': 'application/json' };

/**
 * Sends the requests of the recorded client in order and compares all answers. `file` is relative to `spec/golden`.
 * @throws with a line for each answer that differs
 */
export async function playCommands(file: string, backend: CliBackend): Promise<void> {
  const { name, steps } = JSON.parse(readGolden(file)) as { name: string; steps: Step[] };
  const client = new RecordedClient(backend);
  const found: string[] = [];
  try {
    for (const [index, step] of steps.entries()) {
      if ('waitMs' in step) await backend.wait(step.waitMs);
      else if ('editConfig' in step) client.edit(step.editConfig);
      else found.push(...(await client.run(step, `${name} ${index + 1}`)));
    }
  } finally {
    client.close();
  }
  if (found.length > 0) throw new Error(`${found.length} answers differ:\n${found.join('\n')}`);
}

/** Returns the system information of the recorded backend, from the entity list that the client received. */
export function recordedMachine(): System {
  const { steps } = JSON.parse(readGolden('cli/03-events-entities.json')) as { steps: Partial<Command>[] };
  const shownLists = steps.flatMap(({ exchanges = [] }) => exchanges.map(({ response }) => response.body));
  const entities = shownLists.filter(Array.isArray).flat() as { entity_class?: string }[];
  return parseEntityShape(entities.find(({ entity_class }) => entity_class === 'backend')).system;
}

/** A client with the state of the recorded one: its tokens, and values from earlier answers. */
class RecordedClient {
  readonly #backend: CliBackend;
  readonly #api: ApiClient;
  readonly #kept: Record<string, string> = {};
  #tokens: Tokens = { access_token: '', refresh_token: '' };
  #last: ApiAnswer | undefined;

  constructor(backend: CliBackend) {
    this.#backend = backend;
    this.#api = new ApiClient(backend.port);
  }

  edit(tokens: Partial<Tokens>): void {
    this.#tokens = { ...this.#tokens, ...tokens };
  }

  close(): void {
    this.#api.close();
  }

  /** Sends the requests of one command. Returns a line for each answer that differs. */
  async run({ argv, exchanges, keep = {} }: Command, command: string): Promise<string[]> {
    const found: string[] = [];
    for (const [index, { request, response }] of exchanges.entries()) {
      const answer = await this.#send(request, argv);
      for (const [name, pattern] of Object.entries(keep)) {
        this.#kept[name] = new RegExp(pattern).exec(String(answer.headers.location))?.[1] ?? '';
      }
      const where = `${command}.${index + 1}`;
      const reason = this.#difference(expectedAnswer(request, response), answer);
      if (reason !== undefined) found.push(`${where} ${request.method} ${request.path}: ${reason}`);
      this.#last = answer;
      if (typeof at(answer.json, 'refresh_token') === 'string') this.edit(answer.json as Tokens);
    }
    return found;
  }

  async #send({ method, path, query, headers = {}, body }: RecordedRequest, argv: string[]): Promise<ApiAnswer> {
    const own = Object.entries(headers).map(([name, value]) => [name, this.#header(value)] as const);
    return this.#api.request({
      method,
      path: this.#withKept(query === undefined ? path : `${path}?${query}`),
      headers: { ...USUAL_HEADERS, ...Object.fromEntries(own) },
      ...(body === undefined ? {} : { body: await this.#body(body, argv) }),
    });
  }

  #header(value: string): string {
    return this.#withKept(value)
      .replace('<token>', this.#tokens.access_token)
      .replace(/base64\((.*)\)$/, (_, text: string) => Buffer.from(text).toString('base64'));
  }

  /** Replaces the matchers of a recorded body by the client's values: the time, its tokens, its arguments, or the last answer. */
  async #body(body: unknown, argv: string[]): Promise<string> {
    const password = argv[argv.indexOf('-p') + 1] ?? '';
    return JSON.stringify(body)
      .replaceAll('"<unix>"', String(Math.floor(this.#backend.nowMs() / 1_000)))
      .replaceAll('<token>', this.#tokens.refresh_token)
      .replaceAll('<uuid>', String(at(this.#last?.json, 'id')))
      .replaceAll('<string>', await hash(password, { cost: LOWEST_BCRYPT_COST }));
  }

  #withKept(text: string): string {
    return text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => this.#kept[name] ?? '');
  }

  #difference({ status, headers = {}, body, text }: RecordedAnswer, answer: ApiAnswer): string | undefined {
    if (status !== answer.status) return `expected status ${status}, got ${answer.status} ${answer.text}`;
    const compared = Object.entries(headers).filter(([name]) => name !== 'content-type' || body !== undefined);
    for (const [name, value] of compared) {
      const found = difference(this.#withKept(value), answer.headers[name], name);
      if (found !== undefined) return found;
    }
    if (answer.headers['sensu-continue'] !== undefined && headers['sensu-continue'] === undefined) {
      return 'unexpected Sensu-Continue header';
    }
    if (body === undefined) return difference(text ?? '<any>', answer.text);
    return exactDifference(shown(body), answer.json);
  }
}

/** The answer that creates a key is the only one that contains it; lists show another UUID instead. */
const shown = (body: unknown): unknown => JSON.parse(JSON.stringify(body).replaceAll(/\$\{\w+\}/g, '<uuid>'));
