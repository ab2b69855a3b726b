import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiClient } from './api-client.ts';
import { eventually } from './eventually.ts';
import { proxyEvent } from './example-events.ts';
import { at } from './json-path.ts';

type Body = Record<string, unknown>;

/** What became of one handler of an event. */
export interface Outcome {
  pipeline: unknown;
  workflow: unknown;
  handler: unknown;
  outcome: unknown;
  reason: unknown;
  status: unknown;
}

export const reference = (type: string, name: string): Body => ({ name, type, api_version: 'core/v2' });

/** A record that counts several equal denials, as many times. */
const times = (record: unknown): unknown[] => Array.from({ length: Number(at(record, 'count')) }, () => record);

const total = (records: readonly unknown[]): number => records.flatMap(times).length;

/** A user who configures the event pipeline of the namespace `default` and sends events of the entity `web-01`. */
export class PipelineUser {
  readonly #api: ApiClient;
  readonly #directory: string;

  /** Handlers write to files in `directory`. */
  constructor(api: ApiClient, directory: string) {
    this.#api = api;
    this.#directory = directory;
  }

  /** @throws unless the backend accepts the resource */
  async put(collection: string, name: string, body: Body): Promise<void> {
    const metadata = { name, namespace: 'default' };
    const { status, text } = await this.#api.put(`/ns/default/${collection}/${encodeURIComponent(name)}`, {
      metadata,
      ...body,
    });
    if (status !== 201) throw new Error(`PUT of ${collection} ${name} answered ${status} ${text}`);
  }

  /** Adds a command that writes its input to a file and appends its name to the file `order`. */
  handler(name: string, changes: Body = {}): Promise<void> {
    const command = `cat > ${this.path(name)}; echo ${name} >> ${this.path('order')}`;
    return this.put('handlers', name, { type: 'pipe', command, ...changes });
  }

  /** Sends an event of the check with this result and these other members. */
  async event(check: string, result: Body = {}, changes: Body = {}): Promise<void> {
    const event = { ...proxyEvent('web-01', check, { status: 1, ...result }), ...changes };
    const { status, text } = await this.#api.put(`/ns/default/events/web-01/${check}`, event);
    if (status !== 200) throw new Error(`PUT of an event answered ${status} ${text}`);
  }

  /** Waits for as many outcomes of the check's events, and returns them in their order. */
  async outcomes(check: string, count: number, entity = 'web-01'): Promise<Outcome[]> {
    const { json } = await eventually(
      () => this.#api.get(`/api/mon/v1/namespaces/default/events/${entity}/${check}/notifications`),
      (answer) => Array.isArray(answer.json) && total(answer.json) >= count,
      { what: `${count} outcomes of ${entity}/${check}`, withinMs: 20_000 },
    );
    return (json as unknown[]).flatMap(times).map((one) => ({
      pipeline: at(one, 'pipeline'),
      workflow: at(one, 'workflow'),
      handler: at(one, 'handler'),
      outcome: at(one, 'outcome'),
      reason: at(one, 'reason'),
      status: at(one, 'status'),
    }));
  }

  /** Like `outcomes`, in lines such as `slack denied: not an incident`. */
  async outcomeLines(check: string, count: number, entity = 'web-01'): Promise<string[]> {
    const outcomes = await this.outcomes(check, count, entity);
    return outcomes.map(({ handler, outcome, reason }) => {
      const why = reason === '' ? '' : `: ${String(reason)}`;
      return `${String(handler)} ${String(outcome)}${why}`;
    });
  }

  path(name: string): string {
    return join(this.#directory, name);
  }

  /** Returns the input of a handler, if it has run. */
  input(handler: string): string | undefined {
    return existsSync(this.path(handler)) ? readFileSync(this.path(handler), 'utf8') : undefined;
  }

  /** Returns the names of the handlers that ran, in order. */
  get ran(): string[] {
    return this.input('order')?.split('\n').slice(0, -1) ?? [];
  }
}
