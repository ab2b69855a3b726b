import { expect } from 'chai';
import { exampleResources } from '../../support/example-resources.ts';
import { perSuite } from '../../support/fixture.ts';
import { ApiUnderTest } from '../api-under-test.ts';

const LABELS = Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`key-${n}`, '']));
const TOO_MANY = 'metadata must have at most 1000 labels and annotations together';
const OF_EVENT = '/api/core/v2/namespaces/default/events/web-01/disk';

/** The resources with metadata. Users and namespaces have none. */
const RESOURCES = exampleResources('default').filter(({ body }) => 'metadata' in body('x'));

function withLabels(body: Record<string, unknown>): object {
  return { ...body, metadata: { ...(body['metadata'] as object), labels: LABELS } };
}

describe('metadata with more than 1000 labels', () => {
  const api = perSuite(() => ApiUnderTest.start());

  async function messageOf(method: string, path: string, body: object): Promise<string> {
    const headers = method === 'PATCH' ? { 'Content-Type': 'application/merge-patch+json' } : {};
    const reply = await api.send({ method, path, headers, body });
    expect(reply.status, `${method} ${path}`).to.equal(400);
    return String((reply.body as { message: unknown }).message);
  }

  for (const { home, body, id = (name: string) => name } of RESOURCES) {
    const kind = home.split('/').at(-1) ?? '';
    const path = `${home}/${id('bounded')}`;

    it(`is rejected when ${kind} are created, replaced or patched, and the rule is named`, async () => {
      expect(await messageOf('POST', home, withLabels(body('bounded')))).to.contain(TOO_MANY);
      expect((await api.send({ method: 'POST', path: home, body: body('bounded') })).status).to.be.within(200, 201);
      const named = {
        ...body('bounded'),
        metadata: { ...(body('bounded')['metadata'] as object), name: id('bounded') },
      };
      expect(await messageOf('PUT', path, withLabels(named))).to.contain(TOO_MANY);
      if (kind === 'silenced') return;
      expect(await messageOf('PATCH', path, { metadata: { labels: LABELS } })).to.contain(TOO_MANY);
    });
  }

  it('is rejected in an event, and the error names the part of it', async () => {
    const event = { check: { interval: 60, metadata: { name: 'disk' } } };
    const inEntity = { ...event, entity: { metadata: { name: 'web-01', labels: LABELS } } };
    expect(await messageOf('PUT', OF_EVENT, inEntity)).to.equal(`entity is invalid: ${TOO_MANY}`);
  });
});
