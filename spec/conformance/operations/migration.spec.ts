import { expect } from 'chai';
import { ApiClient } from '../../support/api-client.ts';
import { perSuite } from '../../support/fixture.ts';
import { readGolden } from '../../support/golden-file.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';

/** The recordings in which the command-line client lists resources, and the kinds that docs/migrate.md exports. */
const RECORDINGS = ['02-checks', '04-handlers-filters-etc', '07-create-delete-dump'];
const KINDS = ['roles', 'rolebindings', 'assets', 'checks', 'filters', 'handlers', 'hooks', 'mutators', 'pipelines'];

interface Resource {
  metadata: { name: string; namespace: string };
}

interface Exchange {
  request: { method: string; path: string };
  response: { status: number; body?: unknown };
}

/** What the reference answered to lists of a kind in a namespace, without repetitions. */
function listed(kind: string): Resource[] {
  const steps = RECORDINGS.flatMap(
    (name) => (JSON.parse(readGolden(`cli/${name}.json`)) as { steps: { exchanges?: Exchange[] }[] }).steps,
  );
  const bodies = steps
    .flatMap(({ exchanges = [] }) => exchanges)
    .filter(({ request: { method, path } }) => method === 'GET' && path === `/api/core/v2/namespaces/default/${kind}`)
    .flatMap(({ response: { body } }) => (Array.isArray(body) ? (body as Resource[]) : []));
  return [...new Map(bodies.map((resource) => [resource.metadata.name, resource])).values()];
}

describe('a move from the reference', () => {
  const backend = perSuite(() => InProcessBackend.start());

  for (const kind of KINDS) {
    it(`creates the ${kind} that the reference exported`, async () => {
      const api = await ApiClient.login(backend.apiPort);
      const resources = listed(kind);
      expect(resources).to.have.length.above(0);
      for (const resource of resources) {
        const path = `/ns/default/${kind}/${encodeURIComponent(resource.metadata.name)}`;
        const { status, text } = await api.put(path, resource);
        expect([status, text], resource.metadata.name).to.deep.equal([201, '']);
      }
    });
  }
});
