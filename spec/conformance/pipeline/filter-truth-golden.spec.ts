import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ApiAnswer, ApiClient } from '../../support/api-client.ts';
import { BackendProcess } from '../../support/backend-process.ts';
import { eventually } from '../../support/eventually.ts';
import { perSuite } from '../../support/fixture.ts';
import { withException } from '../../support/golden-exceptions.ts';
import { difference } from '../../support/golden-match.ts';
import { readGolden } from '../../support/golden-file.ts';
import { HandlerSink } from '../../support/handler-sink.ts';
import { at } from '../../support/json-path.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

type Body = Record<string, unknown>;
type Result = 'true' | 'false' | 'throws' | 'rejected' | '<any>';

interface Row {
  event: string;
  expr: string;
  result: Result;
  /** The answer to the write of a filter that is rejected. */
  status?: number;
  messageOurs?: string;
  ours?: Result;
}

const FILE = 'pipeline/filter-truth.json';
const { events, rows: recorded } = JSON.parse(readGolden(FILE).replaceAll('{ns}', 'default')) as {
  events: Record<string, Body[]>;
  rows: Row[];
};
const rows = recorded.map((row) => withException(FILE, row.expr, row) as Row);

/** The filters with one expression that let an event pass, by the result of the expression. */
const PASSING: Readonly<Record<Exclude<Result, 'rejected' | '<any>'>, string[]>> = {
  true: ['allow'],
  false: ['deny'],
  throws: ['allow', 'deny'],
};
const ACTIONS = ['allow', 'deny'];
const LAST = 'last-of-the-pipeline';
/** Number of requests at the same time. */
const WRITERS = 8;

const reference = (type: string, name: string): Body => ({ name, type, api_version: 'core/v2' });

/** The names of a row's filter, handler and workflow. */
const nameOf = (row: number, action: string): string => `${action}-${row}`;

describe('a recorded filter expression', function () {
  this.timeout(120_000);
  const backend = perSuite(() => BackendProcess.start());
  const api = perSuite(() => backend.login());
  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  const last = perSuite(
    () => HandlerSink.listen(),
    (made) => made.close(),
  );
  /** The answers to the writes of the filters of each row. */
  const written: ApiAnswer[][] = [];
  let passed: ReadonlySet<string>;

  before(async function () {
    this.timeout(120_000);
    await write(api, 'handlers', LAST, { type: 'tcp', socket: { host: '127.0.0.1', port: last.port } });
    await inParallel(rows.entries(), async ([index, { expr }]) => {
      written[index] = await Promise.all(ACTIONS.map((action) => writeRow(index, action, expr)));
    });
    for (const [event, sequence] of Object.entries(events)) await handle(event, sequence);
    passed = new Set(readFileSync(join(directory.path, 'order'), 'utf8').split('\n'));
  });

  async function writeRow(index: number, action: string, expr: string): Promise<ApiAnswer> {
    const name = nameOf(index, action);
    const command = `echo ${name} >> ${join(directory.path, 'order')}`;
    await write(api, 'handlers', name, { type: 'pipe', command });
    return write(api, 'filters', name, { action, expressions: [expr] });
  }

  /** Puts the events of one kind. The last one is handled by a workflow for each filter of its rows. */
  async function handle(event: string, sequence: readonly Body[]): Promise<void> {
    const names = [...rows.entries()]
      .filter(([index, row]) => row.event === event && written[index]?.every(({ status }) => status === 201))
      .flatMap(([index]) => ACTIONS.map((action) => nameOf(index, action)));
    const filtered = names.map((name) => ({
      name,
      filters: [reference('EventFilter', name)],
      handler: reference('Handler', name),
    }));
    const workflows = [...filtered, { name: LAST, handler: reference('Handler', LAST) }];
    const { status } = await write(api, 'pipelines', 'truth', { workflows });
    expect(status).to.equal(201);
    for (const [index, body] of sequence.entries()) {
      const isLast = index === sequence.length - 1;
      const pipelines = isLast ? { pipelines: [reference('Pipeline', 'truth')] } : {};
      const path = `events/${String(at(body, 'entity', 'metadata', 'name'))}/${String(at(body, 'check', 'metadata', 'name'))}`;
      const { status: answered, text } = await api.put(`/ns/default/${path}`, { ...body, ...pipelines });
      expect(answered, text).to.equal(200);
    }
    const wait = { what: `the end of the pipeline for ${event}`, withinMs: 60_000 };
    await eventually(
      () => last.events.splice(0),
      (received) => received.length > 0,
      wait,
    );
  }

  for (const [index, { event, expr, result, status, messageOurs, ours }] of rows.entries()) {
    const expected = ours ?? result;
    const title = `${JSON.stringify(expr)} for the event ${event}`;
    if (expected === '<any>') {
      it(`may be accepted: ${title}`, () => {
        for (const answer of written[index] ?? []) expect(answer.status, answer.text).to.be.oneOf([201, 400]);
      });
    } else if (expected === 'rejected') {
      it(`is rejected: ${title}`, () => {
        for (const answer of written[index] ?? []) {
          expect(answer.status).to.equal(status);
          expect(difference(messageOurs, at(answer.json, 'message'))).to.equal(undefined);
        }
      });
    } else {
      it(`${expected === 'throws' ? 'throws' : `is ${expected}`}: ${title}`, () => {
        expect(written[index]?.map((answer) => answer.text)).to.deep.equal(['', '']);
        expect(ACTIONS.filter((action) => passed.has(nameOf(index, action)))).to.deep.equal(PASSING[expected]);
      });
    }
  }
});

function write(api: ApiClient, collection: string, name: string, body: Body): Promise<ApiAnswer> {
  return api.put(`/ns/default/${collection}/${name}`, { metadata: { name, namespace: 'default' }, ...body });
}

/** Calls `work` for all items, a few at a time. */
async function inParallel<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const left = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = left.next(); next.done !== true; next = left.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: WRITERS }, worker));
}
