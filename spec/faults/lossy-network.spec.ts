import { expect } from 'chai';
import { surviveLoss } from './lossy-network.ts';

const INTERVAL_S = 3;
/** The next tick, and the time that a run and its result take; `executed` has whole seconds. */
const WITHIN_S = INTERVAL_S + 2;

describe('F10: an agent behind a network with 50 % loss and 2 s delay', () => {
  it('runs every check again within one interval when the network is healed', async function () {
    this.timeout(120_000);
    const { seconds, alerts } = await surviveLoss(5, INTERVAL_S, 20_000);
    expect(Math.max(...seconds)).to.be.at.most(WITHIN_S);
    expect(alerts).to.equal(0);
  });
});
