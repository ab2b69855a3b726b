import { expect } from 'chai';
import { agentConnectionMachine } from '../../../src/machines/agent-connection.ts';
import { checkTtlMachine } from '../../../src/machines/check-ttl.ts';
import { entityMachine } from '../../../src/machines/entity.ts';
import { type CheckEvent, hasCheck, parseEvent } from '../../../src/resources/event.ts';
import { CODECS } from '../../../src/store/records/codecs.ts';
import { NO_PREVIOUS_STATE } from '../../../src/rules/check-state.ts';
import type { ActorSnapshot } from '../../../src/store/records/records.ts';
import {
  convertCheckTtl,
  convertConnection,
  convertEntity,
  SNAPSHOT_VERSIONS,
} from '../../../src/store/migrations/snapshot-versions.ts';
import { sealed, unseal } from '../../../src/store/encoding/sealed.ts';
import { restored } from '../../machines/restored.ts';
import { checkEvent } from '../../support/example-events.ts';

const CONTEXT = {
  key: 'default/web-01',
  warningMs: 5_000,
  criticalMs: 0,
  intervalMs: 2_000,
  lastReceivedAtMs: 1,
  graceMs: 0,
};
const TTL = { key: 'a/b/c', ttlMs: 5_000, alertStatus: 1, lastReceivedAtMs: 1, tickMs: 5_000, graceMs: 0 };

describe('the step to store version 3', () => {
  const entities: [string, string, object, unknown][] = [
    ['an entity without a next alert', 'registered', CONTEXT, { registered: 'unmonitored' }],
    ['an entity with a next alert', 'registered', { ...CONTEXT, tickMs: 5_000 }, { registered: 'monitored' }],
    ['an entity in warning', 'warning', { ...CONTEXT, tickMs: 5_000 }, 'warning'],
    ['an entity in critical', 'critical', { ...CONTEXT, tickMs: 5_000 }, 'critical'],
  ];
  for (const [what, value, context, expected] of entities) {
    it(`converts ${what} to a snapshot that the machine restores`, () => {
      const converted = convertEntity({ value, context });
      expect(converted).to.deep.equal({ value: expected, context, version: entityMachine.version });
      expect(restored(entityMachine, converted.value, converted.context).status).to.equal('active');
    });
  }

  for (const [value, expected] of [
    ['registered', 'registered'],
    ['warning', 'warning'],
    ['critical', { critical: 'closing' }],
  ] as const) {
    it(`converts a connection in ${value} to a snapshot that the machine restores`, () => {
      const converted = convertConnection({ value, context: { key: 'x', deadlineAtMs: 1 } });
      expect(converted.value).to.deep.equal(expected);
      expect(converted.version).to.equal(agentConnectionMachine.version);
      expect(restored(agentConnectionMachine, converted.value, converted.context).status).to.equal('active');
    });
  }

  for (const value of ['registered', 'warning', 'critical']) {
    it(`converts a check TTL in ${value} to a snapshot that the machine restores`, () => {
      const converted = convertCheckTtl({ value, context: TTL });
      expect(converted).to.deep.equal({ value, context: TTL, version: checkTtlMachine.version });
      expect(restored(checkTtlMachine, converted.value, converted.context).status).to.equal('active');
    });
  }

  describe('on stored records', () => {
    const passOf = (table: string) => SNAPSHOT_VERSIONS.passes.find((pass) => pass.table === table);
    /** The payload that the step writes; undefined when it leaves the record as it is. */
    const written = (table: string, stored: Buffer): Buffer | undefined => {
      const payload = passOf(table)?.writes({ key: 'key', payload: unseal(stored, 'record') })[0]?.payload;
      return Buffer.isBuffer(payload) ? payload : undefined;
    };
    const event = (): CheckEvent => {
      const parsed = parseEvent(checkEvent('web-01', 'disk', { ttl: 60 }));
      if (!hasCheck(parsed)) throw new Error('the example has a check');
      return parsed;
    };
    const recordOf = (ttl: ActorSnapshot | undefined) => {
      const { history, occurrences, occurrencesWatermark, lastOk } = NO_PREVIOUS_STATE;
      const state = {
        history,
        occurrences,
        occurrencesWatermark,
        lastOk,
        state: 'passing' as const,
        totalStateChange: 0,
        silenced: [],
      };
      return { state, ttl, event: event() };
    };
    const old = (value: string, context: object) => ({ value, context }) as ActorSnapshot;

    it('keeps the rest of an entity and of a session', () => {
      const entity = { state: { last_seen: 7 }, actor: old('warning', CONTEXT) };
      const payload = written('entities', CODECS.resources.encode(entity));
      expect(JSON.parse(String(payload))).to.deep.equal({
        ...entity,
        actor: convertEntity({ value: 'warning', context: CONTEXT }),
      });
      const session = { namespace: 'default', agentName: 'web', openedAtMs: 7, actor: old('registered', {}) };
      const converted = written('sessions', CODECS.sessions.encode(session));
      expect(JSON.parse(String(converted))).to.deep.equal({ ...session, actor: { ...session.actor, version: '2' } });
    });

    it('gives the check TTL of an event its version and keeps the event', () => {
      const before = recordOf(old('warning', TTL));
      const payload = written('events', CODECS.events.encode(before));
      const after = CODECS.events.decode(sealed(payload ?? Buffer.alloc(0)), 'event');
      expect(after.ttl).to.deep.equal({ value: 'warning', context: TTL, version: '1' });
      expect(after.state).to.deep.equal(before.state);
      expect(after.event).to.deep.equal(CODECS.events.decode(CODECS.events.encode(before), 'event').event);
    });

    it('does not write an event without a TTL', () => {
      expect(written('events', CODECS.events.encode(recordOf(undefined)))).to.equal(undefined);
    });
  });
});
