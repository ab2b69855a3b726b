import { expect } from 'chai';
import { HandshakeRefused } from '../support/agent-client.ts';
import { ApiClient } from '../support/api-client.ts';
import { BackendProcess, initialiseState } from '../support/backend-process.ts';
import { proxyEvent } from '../support/example-events.ts';
import { perTest } from '../support/fixture.ts';
import { at } from '../support/json-path.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** V8 ends a process that needs more. */
const HEAP_MIB = 48;
const SENDERS = 8;
const FULL_WITHIN_MS = 120_000;

describe('F18: the program whose heap is nearly used up', function () {
  this.timeout(240_000);
  const directory = perTest(temporaryDirectory, (made) => made.remove());

  it('answers changes and agents with 503 instead of ending, and has every event that it accepted', async () => {
    const stateDir = `${directory.path}/state`;
    await initialiseState(stateDir);
    const environment = { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB} --max-semi-space-size=1` };
    const backend = await BackendProcess.start({ stateDir, environment });
    const accepted: string[] = [];
    try {
      const api = await backend.login();
      const untilMs = performance.now() + FULL_WITHIN_MS;
      const send = async (sender: number): Promise<number> => {
        for (let n = 0; performance.now() < untilMs; n += 1) {
          const name = `p${sender}-${n}`;
          const { status } = await api.put(`/ns/default/events/${name}/c`, proxyEvent(name, 'c', { ttl: 3_600 }));
          if (status !== 200) return status;
          accepted.push(name);
        }
        return 0;
      };
      const ends = await Promise.all(Array.from({ length: SENDERS }, (_, sender) => send(sender)));
      expect(ends).to.deep.equal(Array.from({ length: SENDERS }, () => 503));

      expect(accepted.length).to.be.above(100);
      const refusal = await backend.connect({ name: 'a1' }).catch((error: unknown) => error);
      expect(refusal).to.be.instanceOf(HandshakeRefused).with.property('status', 503);
      const anybody = new ApiClient(backend.apiPort);
      const { json } = await anybody.get('/health');
      anybody.close();
      expect(at(json, 'Alarms', 0, 'alarm')).to.equal(3);
      expect(await api.event(accepted[0] ?? '', 'c')).to.have.nested.property('check.status');
      expect(await backend.stop()).to.equal(0);
    } finally {
      await backend.kill();
    }

    const again = await BackendProcess.start({ stateDir });
    try {
      const api = await again.login();
      for (const name of accepted.filter((_, index) => index % 50 === 0 || index > accepted.length - 100)) {
        expect(await api.event(name, 'c'), name).to.have.nested.property('check.status');
      }
    } finally {
      await again.stop();
    }
  });
});
