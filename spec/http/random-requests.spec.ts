import { expect } from 'chai';
import { RandomRequests } from '../support/random-requests.ts';
import { perSuite } from '../support/fixture.ts';
import { SeededRandom } from '../support/seeded-random.ts';
import { ApiUnderTest, type Reply } from './api-under-test.ts';

const REQUESTS = 1_000;
/** How many are read back is a matter of chance: more requests are sent until this many were. */
const MIN_READ_BACK = 6;
const MAX_REQUESTS = 10_000;
/** A resource that GET shows as PUT takes it. A user has a password that is not shown, and an event a computed state. */
const IS_READABLE =
  /^\/api\/core\/v2\/(?:namespaces\/[^/]+\/)?(?:assets|checks|entities|filters|handlers|hooks|mutators|pipelines|roles|rolebindings|clusterroles|clusterrolebindings|namespaces)\/[^/]+$/;

/** A DELETE that also deletes the events of an entity that is not stored, and answers 404 for the entity. */
const DELETES_EVENTS = /^DELETE \/api\/core\/v2\/namespaces\/[^/]+\/entities\/[^/]+$/;

interface Sent {
  method: string;
  path: string;
  headers: Record<string, string>;
  text: string;
}

describe('a random request', () => {
  const random = SeededRandom.fresh();
  const api = perSuite(() => ApiUnderTest.start());

  const tell = (sent: Sent, { status, text }: Reply): string =>
    `${JSON.stringify(sent)} is answered ${status} ${text} (MON_SPEC_SEED=${random.seed})`;

  /** A refusal has the form of all errors, and a text. */
  function assertRefusal(sent: Sent, reply: Reply): void {
    const { status, body } = reply;
    expect(status, tell(sent, reply)).to.be.lessThan(500);
    // A path that cannot be decoded and a method that a path lacks are refused before the API knows the route.
    if (status === 405 || (status === 400 && reply.text === '400 Bad Request')) return;
    const { message, code } = (body ?? {}) as { message?: unknown; code?: unknown };
    expect([typeof message, typeof code], tell(sent, reply)).to.deep.equal(['string', 'number']);
    expect(message, tell(sent, reply)).to.match(/\w/);
  }

  /** What GET shows can be put back, which changes nothing that GET shows. */
  async function assertReadsBack(sent: Sent): Promise<void> {
    const path = sent.path.split('?')[0] ?? '';
    const shown = await api.get(path);
    expect(shown.status, tell(sent, shown)).to.equal(200);
    const again = await api.send({ method: 'PUT', path, text: shown.text });
    expect(again.status, tell(sent, again)).to.be.lessThan(300);
    expect((await api.get(path)).text, tell(sent, again)).to.equal(shown.text);
  }

  it('never causes an internal error, changes nothing when it is refused, and reads back when it is accepted', async () => {
    const requests = new RandomRequests(random);
    const counts = { refused: 0, readBack: 0 };
    for (let index = 0; index < REQUESTS || (counts.readBack < MIN_READ_BACK && index < MAX_REQUESTS); index += 1) {
      const { method, path, headers = {}, body } = requests.next();
      const text = typeof body === 'string' ? body : '';
      const sent = { method, path, text, headers: { ...headers, 'content-length': String(Buffer.byteLength(text)) } };
      const before = api.writes;
      const reply = await api.send(sent);
      if (reply.status >= 400) {
        counts.refused += 1;
        assertRefusal(sent, reply);
        const mayWrite = reply.status === 404 && DELETES_EVENTS.test(`${method} ${path.split('?')[0]}`);
        if (!mayWrite) expect(api.writes, tell(sent, reply)).to.equal(before);
      } else if (method === 'PUT' && reply.status < 300 && IS_READABLE.test(path.split('?')[0] ?? '')) {
        counts.readBack += 1;
        await assertReadsBack(sent);
      }
    }
    expect(counts.refused).to.be.greaterThan(REQUESTS / 10);
    expect(counts.readBack).to.be.at.least(MIN_READ_BACK);
  });
});
