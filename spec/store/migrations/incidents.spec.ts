import { expect } from 'chai';
import { incidentOf } from '../../../src/store/migrations/incidents.ts';

const KEY = 'berlin/web-07/disk';

/** The incident that the step writes for a history of statuses, of which one is executed each minute. */
function incident(statuses: number[], state: string, lastOk = 60): unknown {
  const executed = statuses.map((_, index) => (index + 1) * 60);
  const [write] = incidentOf(KEY, [statuses, executed, 1, 1, state, 0, lastOk]);
  return write === undefined ? undefined : JSON.parse(String(write.payload));
}

describe('the step to store version 6', () => {
  it('writes nothing for a passing event', () => {
    expect(incident([1, 0], 'passing')).to.equal(undefined);
  });

  it('takes the start from the first failure after the last success, and the last change from the last run of equal statuses', () => {
    expect(incident([0, 1, 2, 2], 'failing')).to.deep.include({ openedAtS: 120, lastStateChangeS: 180 });
    expect(incident([2, 2], 'failing')).to.deep.include({ openedAtS: 60, lastStateChangeS: 60 });
  });

  it('writes an incident for a passing result of a flapping check', () => {
    expect(incident([1, 0, 0], 'flapping')).to.deep.include({ lastStateChangeS: 120 });
  });

  it('derives the id from the key and from the last success', () => {
    const { id } = incident([0, 1], 'failing') as { id: string };
    expect(id).to.equal((incident([0, 1, 2], 'failing') as { id: string }).id);
    expect(id).to.not.equal((incident([0, 1], 'failing', 61) as { id: string }).id);
    // uuid.uuid5(uuid.UUID('5b0d9f0e-2a61-4c0e-9a5b-3b1f3d3c8f11'), 'berlin/web-07/disk/60') of Python
    expect(id).to.equal('e60561d9-9e55-5c34-812c-9997265cb1e0');
  });
});
