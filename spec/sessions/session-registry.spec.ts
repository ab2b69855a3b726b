import { setImmediate as nextTick } from 'node:timers/promises';
import { expect } from 'chai';
import type { Session } from '../../src/sessions/connection/session.ts';
import { type RegistryListener, SessionRegistry } from '../../src/sessions/session-registry.ts';

describe('the sessions of the agent port', () => {
  it('resume over several ticks when their held messages take long, each in turn', async () => {
    let nowMs = 0;
    const registry = new SessionRegistry({} as RegistryListener, { monotonicMs: () => nowMs });
    const resumed: string[] = [];
    const holding = (name: string, messages: number): Session => {
      let left = messages;
      const resume = (hasTime: () => boolean): boolean => {
        for (; left > 0; left -= 1) {
          if (!hasTime()) return false;
          nowMs += 10;
          resumed.push(name);
        }
        return true;
      };
      return { resume } as Session;
    };
    for (const session of [holding('a', 6), holding('b', 1)]) registry.awaitResume(session);
    registry.resumed();
    expect(resumed).to.deep.equal(['a', 'a', 'a', 'a']);
    await nextTick();
    expect(resumed).to.deep.equal(['a', 'a', 'a', 'a', 'b', 'a', 'a']);
  });
});
