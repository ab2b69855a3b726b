import { expect } from 'chai';
import { checkWithDefaults } from '../../../src/resources/check.ts';
import {
  type ConfigurationKind,
  CONFIGURATION_KINDS,
  SECRETS_API,
} from '../../../src/resources/configuration-kinds.ts';
import { hookWithDefaults } from '../../../src/resources/hook.ts';
import { ApiUnderTest, type Reply } from '../api-under-test.ts';
import { perSuite } from '../../support/fixture.ts';

const CORE = '/api/core/v2';
const DEFAULT = `${CORE}/namespaces/default`;

const KINDS: readonly (readonly [name: string, kind: ConfigurationKind])[] = Object.entries(CONFIGURATION_KINDS);

/** The kinds of the core API. */
const kindsOf = (wanted: 'namespace' | 'cluster'): string[] =>
  KINDS.flatMap(([name, { scope, api }]) => (scope === wanted && api === undefined ? [name] : []));

/** Every list that accepts selectors. */
const LISTS = [
  ...[...kindsOf('namespace'), 'entities', 'silenced', 'events'].flatMap((kind) => [
    `${DEFAULT}/${kind}`,
    `${CORE}/${kind}`,
  ]),
  `${SECRETS_API}/namespaces/default/secrets`,
  `${SECRETS_API}/secrets`,
  ...[...kindsOf('cluster'), 'apikeys', 'users', 'namespaces'].map((kind) => `${CORE}/${kind}`),
  `${DEFAULT}/silenced/checks/c`,
  `${DEFAULT}/silenced/subscriptions/s`,
  `${CORE}/silenced/checks/c`,
  `${DEFAULT}/events/e1`,
];

const selecting = (parameter: 'fieldSelector' | 'labelSelector', source: string): string =>
  new URLSearchParams({ [parameter]: source }).toString();

interface Named {
  name?: string;
  username?: string;
  metadata?: { namespace?: string; name?: string };
  entity?: { metadata: { name: string } };
  check?: { metadata: { namespace: string; name: string } };
}

const names = ({ body }: Reply): (string | undefined)[] =>
  (body as Named[]).map(({ name, username, metadata, entity, check }) =>
    check === undefined
      ? (metadata?.name ?? name ?? username)
      : `${check.metadata.namespace}/${entity?.metadata.name}/${check.metadata.name}`,
  );

describe('a list with selectors', () => {
  const api = perSuite(() => ApiUnderTest.start());
  before(async () => {
    await api.put('namespaces', undefined, 'dev', { name: 'dev' });
    for (const name of ['e1', 'e2']) {
      const labels = name === 'e1' ? { password: 'hidden', dc: 'x' } : { dc: 'y' };
      const body = { metadata: { name, labels }, entity_class: 'proxy', subscriptions: ['net'], redact: [] };
      await api.send({ method: 'PUT', path: `${DEFAULT}/entities/${name}`, body });
    }
    for (const [namespace, entity, check, status] of [
      ['default', 'e1', 'c1', 0],
      ['default', 'e1', 'c2', 2],
      ['default', 'e2', 'c1', 1],
      ['dev', 'e1', 'c1', 0],
      ['dev', 'e1', 'c3', 2],
    ] as const) {
      const body = {
        entity: { metadata: { labels: { password: 'hidden', dc: 'x', of: 'entity' } } },
        check: { status, interval: 5, metadata: { labels: { of: 'check', sev: String(status) } } },
        metadata: { labels: { of: 'event', team: 'a' } },
      };
      const path = `${CORE}/namespaces/${namespace}/events/${entity}/${check}`;
      expect((await api.send({ method: 'PUT', path, body })).status).to.equal(200);
    }
    for (const name of ['a', 'b', 'c', 'd']) {
      const metadata = { name, namespace: 'default', labels: { kind: name < 'c' ? 'first' : 'second' } };
      const check = { metadata, interval: 5, publish: name !== 'a', subscriptions: [name, 'all'] };
      await api.put('checks', 'default', name, checkWithDefaults(check));
    }
  });

  for (const path of LISTS) {
    it(`rejects an invalid selector, and shows only the selected objects: ${path}`, async () => {
      for (const parameter of ['fieldSelector', 'labelSelector'] as const) {
        const { status, body } = await api.get(`${path}?${selecting(parameter, 'nope (')}`);
        expect([status, body]).to.deep.equal([400, { message: `failed to parse ${parameter}`, code: 1 }]);
        const none = await api.get(`${path}?${selecting(parameter, 'nope == "x"')}`);
        expect([none.status, none.body]).to.deep.equal([200, []]);
        const all = await api.get(`${path}?${selecting(parameter, 'nope != "x"')}`);
        expect(all.text).to.equal((await api.get(path)).text);
      }
    });
  }

  it('shows the objects that match all selectors, also when a parameter is repeated', async () => {
    const fields = selecting('fieldSelector', 'check.publish == true');
    const labels = selecting('labelSelector', 'kind == first');
    const more = selecting('fieldSelector', 'check.name != b');
    const path = `${DEFAULT}/checks`;
    expect(names(await api.get(`${path}?${fields}`))).to.deep.equal(['b', 'c', 'd']);
    expect(names(await api.get(`${path}?${fields}&${labels}`))).to.deep.equal(['b']);
    expect(names(await api.get(`${path}?${fields}&${more}`))).to.deep.equal(['c', 'd']);
    expect(names(await api.get(`${path}?${fields}&${more}&fieldSelector=`))).to.deep.equal(['c', 'd']);
  });

  it('differs from a single object, which is shown whatever the selector', async () => {
    expect((await api.get(`${DEFAULT}/checks/a?fieldSelector=nope%20(`)).status).to.equal(200);
  });

  const events: [source: string, names: string[]][] = [
    ['event.check.name == c1', ['default/e1/c1', 'default/e2/c1', 'dev/e1/c1']],
    ['event.namespace == dev', ['dev/e1/c1', 'dev/e1/c3']],
    ['event.entity.name == e1 && event.check.status == "2"', ['default/e1/c2', 'dev/e1/c3']],
    ['event.check.state != passing', ['default/e1/c2', 'default/e2/c1', 'dev/e1/c3']],
    ['event.labels.of == check && event.check.name == c2', ['default/e1/c2']],
    ['event.labels.of == entity', []],
    ['event.labels.team == a && event.labels.dc == y && event.labels.sev == "1"', ['default/e2/c1']],
    ['event.check.labels.sev == "1"', []],
    ['event.is_silenced == true', []],
    ['event.is_silenced == false && event.check.is_silenced == false && event.check.name == c3', ['dev/e1/c3']],
    ['event.entity.entity_class == proxy && event.check.name == c3', ['dev/e1/c3']],
  ];
  for (const [source, expected] of events) {
    it(`shows ${expected.join(' ') || 'no events'} for ${source}`, async () => {
      expect(names(await api.get(`${CORE}/events?${selecting('fieldSelector', source)}`))).to.deep.equal(expected);
    });
  }

  it('is empty when no event of the entity is selected, and 404 when the entity has no events', async () => {
    const query = selecting('fieldSelector', 'event.check.name == none');
    expect((await api.get(`${DEFAULT}/events/e1?${query}`)).body).to.deep.equal([]);
    expect((await api.get(`${DEFAULT}/events/e1?limit=1&${query}`)).body).to.deep.equal([]);
    expect((await api.get(`${DEFAULT}/events/e9?${query}`)).status).to.equal(404);
  });

  it('does not reveal redacted values to selectors', async () => {
    for (const path of [`${DEFAULT}/entities`, `${DEFAULT}/events`]) {
      const prefix = path.endsWith('events') ? 'event' : 'entity';
      for (const query of [
        selecting('labelSelector', 'password matches hidd'),
        selecting('fieldSelector', `${prefix}.labels.password == hidden`),
      ]) {
        expect((await api.get(`${path}?${query}`)).body).to.deep.equal([]);
      }
      const shown = await api.get(`${path}?${selecting('labelSelector', 'password == REDACTED')}`);
      expect(names(shown)).to.not.have.length(0);
    }
    const hashes = await api.get(`${CORE}/users?${selecting('fieldSelector', 'user.password_hash matches "$2"')}`);
    expect(hashes.body).to.deep.equal([]);
  });

  it('shows the events of all namespaces page by page', async () => {
    const query = `limit=2&${selecting('fieldSelector', 'event.check.name == c1')}`;
    const first = await api.get(`${CORE}/events?${query}`);
    const token = String(first.headers['sensu-continue']);
    expect(Buffer.from(token, 'base64url').toString()).to.equal('/default/e2/c1\0');
    const second = await api.get(`${CORE}/events?${query}&continue=${token}`);
    expect([...names(first), ...names(second)]).to.deep.equal(['default/e1/c1', 'default/e2/c1', 'dev/e1/c1']);
  });

  it('shows only the namespaces that the caller may see', async () => {
    const token = await api.userWith('narrow', [{ verbs: ['get'], resources: ['checks'], resource_names: ['a'] }]);
    const query = selecting('fieldSelector', 'namespace.name == dev');
    const headers = { authorization: `Bearer ${token}` };
    const seen = names(await api.send({ path: `${CORE}/namespaces`, headers }));
    expect(names(await api.send({ path: `${CORE}/namespaces?${query}`, headers }))).to.deep.equal(
      seen.filter((name) => name === 'dev'),
    );
    expect(names(await api.get(`${CORE}/namespaces?${query}`))).to.deep.equal(['dev']);
  });

  it('is complete when many objects before and after the selected ones are skipped', async () => {
    for (let index = 0; index < 900; index += 1) {
      const name = `h${String(index).padStart(3, '0')}`;
      await api.put('hooks', 'dev', name, hookWithDefaults({ metadata: { name, namespace: 'dev' } }));
    }
    const path = `${CORE}/namespaces/dev/hooks?${selecting('fieldSelector', 'hook.name in [h450, h451]')}`;
    expect(names(await api.get(path))).to.deep.equal(['h450', 'h451']);
    expect(names(await api.get(`${path}&limit=1`))).to.deep.equal(['h450']);
    expect(
      (await api.get(`${CORE}/namespaces/dev/hooks?${selecting('fieldSelector', 'hook.name == x')}`)).text,
    ).to.equal('[]');
  });

  it('rejects a continue token that the list of entities cannot have issued', async () => {
    for (const token of ['AAAA', 'YQ', 'YQBiAA']) {
      expect((await api.get(`${DEFAULT}/entities?continue=${token}`)).status, token).to.equal(400);
    }
    for (const token of ['', '!!!', 'ZTEA']) {
      expect((await api.get(`${DEFAULT}/entities?continue=${token}`)).status, token).to.equal(200);
    }
  });
});
