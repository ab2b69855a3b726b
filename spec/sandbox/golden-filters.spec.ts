import { expect } from 'chai';
import { systemClock } from '../../src/main/process/system-clock.ts';
import { type Event, parseEvent } from '../../src/resources/event.ts';
import { redactEvent } from '../../src/resources/redaction.ts';
import type { FilterResult } from '../../src/sandbox/messages.ts';
import { Sandbox } from '../../src/sandbox/sandbox.ts';
import { InProcessBackend } from '../support/in-process-backend.ts';
import { perSuite } from '../support/fixture.ts';
import { readGolden } from '../support/golden-file.ts';
import { RecordedLog } from '../support/recorded-log.ts';

interface Row {
  event: string;
  expr: string;
  result: 'true' | 'false' | 'throws' | 'rejected';
  ours?: string;
}

interface SentEvent {
  check: { metadata: { name: string } };
  entity: { metadata: { name: string } };
  metrics?: object;
}

interface Truth {
  /** By kind, the events to store one after the other. */
  events: Record<string, SentEvent[]>;
  rows: Row[];
}

/** Rows about the namespace of a stored event, which mon sets (decision 0009). */
const OVERRULED = new Set(['event.namespace === ""', 'event.namespace === "default"']);

const TRUTH = JSON.parse(readGolden('pipeline/filter-truth.json').replaceAll('{ns}', 'default')) as Truth;
const PIPELINES = [{ name: 'truth', type: 'Pipeline', api_version: 'core/v2' }];
const OWNER = { namespace: 'default', name: 'truth' };

describe('the recorded values of filter expressions', () => {
  const backend = perSuite(() => InProcessBackend.start());
  const events = new Map<string, Event>();
  let sandbox: Sandbox;

  before(async () => {
    sandbox = new Sandbox({ clock: systemClock, log: new RecordedLog() });
    const api = await backend.login();
    for (const [kind, puts] of Object.entries(TRUTH.events)) {
      for (const [index, event] of puts.entries()) {
        const [entity, check] = [event.entity.metadata.name, event.check.metadata.name];
        const body = index === puts.length - 1 ? { ...event, pipelines: PIPELINES } : event;
        const path = `/ns/default/events/${entity}/${check}`;
        const { status, text } = await api.put(path, body);
        expect(status, text).to.equal(200);
        const { json } = await api.get(path);
        // A stored event has no metrics; that of a filter has those that were sent.
        events.set(kind, redactEvent(parseEvent({ ...(json as object), metrics: event.metrics })));
      }
    }
  });

  after(() => sandbox.stop());

  const decide = (event: string, expression: string, action: 'allow' | 'deny'): Promise<FilterResult> => {
    const given = events.get(event);
    if (given === undefined) throw new Error(`no event ${event}`);
    const filter = { name: 'truth', action, expressions: [expression], libraries: [] };
    return sandbox.filter({ event: given, filters: [filter], nowMs: Date.now() }, OWNER);
  };

  const rows = TRUTH.rows.filter(
    ({ result, ours, expr }) => result !== 'rejected' && ours !== '<any>' && !OVERRULED.has(expr),
  );
  for (const { event, expr, result, ours } of rows) {
    const expected = ours ?? result;
    it(`${event}: ${JSON.stringify(expr)} is ${expected}`, async () => {
      const [allow, deny] = await Promise.all([decide(event, expr, 'allow'), decide(event, expr, 'deny')]);
      const passes = [allow.passes, deny.passes];
      expect(passes, JSON.stringify(allow)).to.deep.equal(
        expected === 'throws' ? [true, true] : [expected === 'true', expected === 'false'],
      );
      const notes = allow.passes ? allow.notes : [];
      expect(notes).to.have.lengthOf(expected === 'throws' ? 1 : 0);
    });
  }
});
