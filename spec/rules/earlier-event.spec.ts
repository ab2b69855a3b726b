import { expect } from 'chai';
import { type CheckEvent, hasCheck, parseEventShape } from '../../src/resources/event.ts';
import { earlierEvent, type EarlierContext } from '../../src/rules/earlier-event.ts';

const INCIDENT = {
  id: '5b0d9f0e-2a61-4c0e-9a5b-3b1f3d3c8f11',
  openedAtS: 1_717_000_180,
  lastStateChangeS: 1_717_000_240,
};

/** The worked example of spec/05 3.5. */
const ENTITY = {
  entity_class: 'agent',
  metadata: { name: 'web-07', namespace: 'berlin', labels: { environment: 'prod', rack: 'r12' } },
  subscriptions: ['web', 'entity:web-07'],
  last_seen: 1_717_000_290,
  sensu_agent_version: '6.9.2',
  system: {
    hostname: 'web-07',
    network: {
      interfaces: [
        { name: 'lo', addresses: ['127.0.0.1/8'] },
        { name: 'eth0', addresses: ['10.4.0.7/24'] },
      ],
    },
  },
};
const CHECK = {
  metadata: { name: 'disk' },
  command: 'check-disk -w 80',
  subscriptions: ['web'],
  interval: 60,
  handlers: ['page'],
  status: 2,
  output: 'CRIT 97%\n',
  issued: 1_717_000_299,
  executed: 1_717_000_300,
  duration: 0.0421,
  history: [
    { status: 0, executed: 1_717_000_120 },
    { status: 1, executed: 1_717_000_180 },
    { status: 2, executed: 1_717_000_240 },
    { status: 2, executed: 1_717_000_300 },
  ],
  occurrences: 2,
  occurrences_watermark: 2,
  last_ok: 1_717_000_120,
  total_state_change: 0,
  state: 'failing',
};
const SHOWN = {
  _id: 'berlin/web-07/disk',
  id: '5b0d9f0e-2a61-4c0e-9a5b-3b1f3d3c8f11',
  action: 'create',
  dc: 'berlin',
  client: {
    name: 'web-07',
    address: '10.4.0.7',
    subscriptions: ['web', 'entity:web-07', 'client:web-07'],
    version: '6.9.2',
    timestamp: 1_717_000_290,
    environment: 'prod',
    rack: 'r12',
    keepalives: true,
    silenced: false,
  },
  check: {
    name: 'disk',
    command: 'check-disk -w 80',
    subscribers: ['web'],
    interval: 60,
    handler: 'page',
    handlers: ['page'],
    status: 2,
    output: 'CRIT 97%\n',
    issued: 1_717_000_299,
    executed: 1_717_000_300,
    duration: 0.042,
    history: ['0', '1', '2', '2'],
    total_state_change: 0,
    type: 'standard',
  },
  occurrences: 2,
  occurrences_watermark: 2,
  last_ok: 1_717_000_120,
  last_state_change: 1_717_000_240,
  silenced: false,
  silenced_by: null,
  timestamp: 1_717_000_300,
};

const CONTEXT: EarlierContext = {
  dc: 'berlin',
  silencedBy: [],
  isClientSilenced: false,
  definition: undefined,
  backendVersion: '1.2.3',
};

function eventWith(check: object = {}, entity: object = {}): CheckEvent {
  const event = parseEventShape({
    timestamp: 1_717_000_300,
    entity: { ...ENTITY, ...entity },
    check: { ...CHECK, ...check },
  });
  if (!hasCheck(event)) throw new Error('the example has a check');
  return event;
}

interface Shown {
  client: Record<string, unknown>;
  check: Record<string, unknown>;
  [member: string]: unknown;
}

const shown = (event: CheckEvent, context: Partial<EarlierContext> = {}, isTtlExpired = false): Shown =>
  earlierEvent({ event, incident: INCIDENT, isTtlExpired }, { ...CONTEXT, ...context }) as Shown;

describe('an event of the first generation', () => {
  it('is the one of the worked example', () => {
    expect(shown(eventWith())).to.deep.equal(SHOWN);
  });

  it('is flapping while the check flaps, with status 0 too', () => {
    expect(shown(eventWith({ state: 'flapping', status: 0 }))['action']).to.equal('flapping');
  });

  it('has no last success when there was none', () => {
    expect(shown(eventWith({ last_ok: 0 }))['last_ok']).to.equal(null);
  });

  it('has a watermark of at least its occurrences', () => {
    expect(shown(eventWith({ occurrences: 3 }))['occurrences_watermark']).to.equal(3);
  });

  it('names its silences as the first generation does, those of a subscription first', () => {
    const event = shown(eventWith(), { silencedBy: ['*:disk', 'entity:web-07:*'], isClientSilenced: true });
    expect(event).to.include({ silenced: true });
    expect(event['silenced_by']).to.deep.equal(['client:web-07:*', '*:disk']);
    expect(event.client).to.include({ silenced: true });
  });

  it('shows a stored negative status with its sign', () => {
    const history = [{ status: 4_294_967_295, executed: 1 }];
    const { check } = shown(eventWith({ status: 4_294_967_295, history }));
    expect(check).to.include({ status: -1 });
    expect(check['history']).to.deep.equal(['-1']);
  });

  it('shows the cron expression in the place of the interval, and no zeros', () => {
    const { check } = shown(eventWith({ interval: 0, cron: '* * * * *' }));
    expect(check).to.include({ cron: '* * * * *' });
    expect(check).to.not.have.any.keys('interval', 'ttl', 'timeout', 'low_flap_threshold', 'high_flap_threshold');
  });

  it('shows the source and its origin', () => {
    expect(shown(eventWith({ proxy_entity_name: 'web-07' })).check).to.include({ source: 'web-07', origin: 'web-07' });
    const processed = { proxy_entity_name: 'web-07', processed_by: 'probe' };
    expect(shown(eventWith(processed)).check).to.include({ origin: 'probe' });
    expect(shown(eventWith({ processed_by: 'probe' })).check).to.not.have.any.keys('source', 'origin');
  });

  it('shows the attributes of the stored check, and those of the event in their place', () => {
    const definition = { aggregate: 'web', handle: false };
    expect(shown(eventWith(), { definition }).check).to.include(definition);
    expect(shown(eventWith({ aggregate: 'mine' }), { definition }).check).to.include({
      aggregate: 'mine',
      handle: false,
    });
  });

  it('shows the alert of a check TTL with the interval of the monitor', () => {
    const { check } = shown(eventWith({ ttl: 90, issued: 0 }), {}, true);
    expect(check).to.include({ ttl: 90, interval: 30, issued: 1_717_000_300 });
  });

  it('shows custom attributes, which never replace its own', () => {
    const labels = { owner: 'ops', status: 'x', output: 'y' };
    const annotations = { 'mon.io/earlier/auto_resolve': 'false', 'mon.io/earlier/name': '"other"', note: 'private' };
    const { check } = shown(eventWith({ metadata: { name: 'disk', labels, annotations } }));
    expect(check).to.include({ owner: 'ops', auto_resolve: false, name: 'disk', status: 2, output: 'CRIT 97%\n' });
    expect(check).to.not.have.property('note');
  });
});

describe('a client of the first generation', () => {
  const clientOf = (entity: object) => shown(eventWith({}, entity)).client;
  const proxy = { entity_class: 'proxy', system: null, sensu_agent_version: '', last_seen: 0 };

  it('that is a proxy entity has its type, the version of the backend and its own subscription only once', () => {
    const client = clientOf({ ...proxy, subscriptions: ['net', 'entity:web-07'] });
    expect(client).to.include({ type: 'proxy', version: '1.2.3', address: 'unknown', keepalives: false });
    expect(client).to.include({ timestamp: 1_717_000_300 });
    expect(client['subscriptions']).to.deep.equal(['net', 'client:web-07']);
  });

  it('that is a proxy entity has the address of its label', () => {
    const metadata = { name: 'web-07', labels: { address: '192.0.2.1' } };
    expect(clientOf({ ...proxy, metadata })).to.include({ address: '192.0.2.1' });
    expect(clientOf({ metadata })).to.include({ address: '10.4.0.7' });
  });

  const interfaces = (...addresses: string[]) => ({
    system: { hostname: 'host', network: { interfaces: [{ name: 'eth0', addresses }] } },
  });
  for (const [title, entity, address] of [
    ['an IPv4 address before an IPv6 one', interfaces('2001:db8::1/64', '192.0.2.7/24'), '192.0.2.7'],
    ['an IPv6 address when there is no other', interfaces('127.0.0.1/8', '::1/128', '2001:db8::1/64'), '2001:db8::1'],
    ['its host name when it has loopback addresses only', interfaces('127.0.0.1/8', '::1/128'), 'host'],
  ] as const) {
    it(`shows ${title}`, () => expect(clientOf(entity)).to.include({ address }));
  }

  it('drops labels with the name of an attribute', () => {
    const labels = { version: '0', silenced: 'yes', rack: 'r1' };
    expect(clientOf({ metadata: { name: 'web-07', labels } })).to.include({
      version: '6.9.2',
      silenced: false,
      rack: 'r1',
    });
  });

  it('redacts secrets at any depth', () => {
    const annotations = { 'mon.io/earlier/db': '{"user":"u","password":"p","list":[{"api_key":"k"}]}' };
    const metadata = { name: 'web-07', labels: { secret: 's', community: 'c' }, annotations };
    expect(clientOf({ metadata })).to.deep.include({
      secret: 'REDACTED',
      community: 'REDACTED',
      db: { user: 'u', password: 'REDACTED', list: [{ api_key: 'REDACTED' }] },
    });
    expect(clientOf({ metadata, redact: ['user'] })).to.deep.include({
      secret: 's',
      db: { user: 'REDACTED', password: 'p', list: [{ api_key: 'k' }] },
    });
  });
});
