import { expect } from 'chai';
import { surviveLoss } from '../faults/lossy-network.ts';
import { soakMinutes } from './soak-minutes.ts';

const MINUTES = soakMinutes();
const MINUTE_MS = 60_000;
const CHECKS = 20;
const INTERVAL_S = 10;
/** The next tick, and the time that a run and its result take; `executed` has whole seconds. */
const WITHIN_S = INTERVAL_S + 2;

describe('F10: an agent behind a network with 50 % loss and 2 s delay for minutes', () => {
  it('runs every check again within one interval when the network is healed', async function () {
    this.timeout((MINUTES + 2) * MINUTE_MS);
    const { seconds, alerts } = await surviveLoss(CHECKS, INTERVAL_S, MINUTES * MINUTE_MS);
    console.log(JSON.stringify({ minutes: MINUTES, slowestS: Math.max(...seconds), alerts }));
    expect(seconds).to.have.length(CHECKS);
    expect(Math.max(...seconds)).to.be.at.most(WITHIN_S);
  });
});
