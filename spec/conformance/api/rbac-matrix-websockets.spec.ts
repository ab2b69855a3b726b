import { hashSync } from '@node-rs/bcrypt';
import { expect } from 'chai';
import { basicHeader } from '../../../src/wire/handshake.ts';
import { HandshakeRefused } from '../../support/agent-client.ts';
import { perSuite } from '../../support/fixture.ts';
import { InProcessBackend } from '../../support/in-process-backend.ts';
import { InspectorClient, inspectUrl } from '../../support/inspector-client.ts';
import { at } from '../../support/json-path.ts';
import { routeTable } from '../../support/route-table.ts';

const CORE = '/api/core/v2';
const EVE = { username: 'eve', password: 'Passw0rd-1' };
const VERBS = ['get', 'list', 'create', 'update', 'delete'];

interface Rule {
  verbs: readonly string[];
  resources: readonly string[];
}

/** The status of the handshake; 101 if it was accepted. */
async function statusOf(connect: () => Promise<{ terminate(): void }>): Promise<number> {
  try {
    (await connect()).terminate();
    return 101;
  } catch (error) {
    if (error instanceof HandshakeRefused) return error.status;
    throw error;
  }
}

describe('A11 the rights that each WebSocket requires', () => {
  let words: readonly string[];
  const backend = perSuite(() => InProcessBackend.start({ configure: (config) => ({ ...config, inspect: true }) }));
  const admin = perSuite(() => backend.login());

  before(async () => {
    const named = (await routeTable()).flatMap(({ access }) => (typeof access === 'object' ? [access.resource] : []));
    words = [...new Set([...named, 'localselfuser', 'inspect'])].filter((word) => word !== '');

    const password_hash = hashSync(EVE.password, { cost: 4 });
    await admin.post(`${CORE}/users`, { username: EVE.username, password_hash });
    for (const name of ['dev', 'dev-2']) await admin.post(`${CORE}/namespaces`, { name });
  });

  const but = (list: readonly string[], word: string): string[] => list.filter((each) => each !== word);
  const subjects = [{ type: 'User', name: EVE.username }];

  it("are needed for the inspector's, for users with all other rights as well", async () => {
    const login = await admin.request({ method: 'GET', path: '/auth', headers: { authorization: basicHeader(EVE) } });
    const authorization = `Bearer ${String(at(login.json, 'access_token'))}`;
    const ticket = async (): Promise<string> => {
      const answer = await admin.request({ method: 'POST', path: '/api/mon/v1/tickets', headers: { authorization } });
      return String(at(answer.json, 'ticket'));
    };
    const inspecting = (query: { ticket?: string }): Promise<number> => {
      const url = inspectUrl(backend.apiPort, { ...query, actors: ['entity:default/x'] });
      return statusOf(async () => (await InspectorClient.connect(url)).socket);
    };
    const give = async (rules: readonly Rule[]): Promise<void> => {
      await admin.put(`${CORE}/clusterroles/eve`, { metadata: { name: 'eve' }, rules });
      const role_ref = { type: 'ClusterRole', name: 'eve' };
      await admin.put(`${CORE}/clusterrolebindings/eve`, { metadata: { name: 'eve' }, subjects, role_ref });
    };
    await give([
      { verbs: VERBS, resources: but(words, 'inspect') },
      { verbs: but(VERBS, 'get'), resources: ['inspect'] },
    ]);
    expect(await inspecting({})).to.equal(401);
    expect(await inspecting({ ticket: 'x' })).to.equal(401);
    expect(await inspecting({ ticket: await ticket() })).to.equal(403);
    await give([{ verbs: ['get'], resources: ['inspect'] }]);
    expect(await inspecting({ ticket: await ticket() })).to.equal(101);
    await admin.delete(`${CORE}/clusterrolebindings/eve`);
  });

  it("are needed for the agents', in the same namespace and not in a neighbour", async () => {
    const namespaces = ['dev', 'dev-2', 'de', 'none'];
    const seen = async (): Promise<number[]> => {
      const statuses: number[] = [];
      for (const namespace of namespaces) {
        statuses.push(await statusOf(() => backend.connect({ name: 'x', namespace, credentials: EVE })));
      }
      return statuses;
    };
    const give = async (rules: readonly Rule[]): Promise<void> => {
      const metadata = { name: 'eve', namespace: 'dev' };
      await admin.put('/ns/dev/roles/eve', { metadata, rules });
      await admin.put('/ns/dev/rolebindings/eve', { metadata, subjects, role_ref: { type: 'Role', name: 'eve' } });
    };
    await give([
      { verbs: but(VERBS, 'create'), resources: words },
      { verbs: ['create'], resources: but(words, 'events') },
    ]);
    expect(await seen()).to.deep.equal([403, 403, 403, 403]);
    await give([{ verbs: ['create'], resources: ['events'] }]);
    expect(await seen()).to.deep.equal([101, 403, 403, 403]);
  });
});
