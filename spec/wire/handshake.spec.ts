import { expect } from 'chai';
import fc from 'fast-check';
import {
  acceptsLine,
  acknowledgesEvents,
  type AgentHello,
  basicHeader,
  HandshakeError,
  helloHeaders,
  namespaceOf,
  parseBasic,
  parseHello,
} from '../../src/wire/handshake.ts';

const QUEUE = '6f2b1c1e-8f0a-4d6b-9a57-0c6d3f0e1a22';

describe('the hello of an agent', () => {
  const accepted: [string, Record<string, string | string[]>, Partial<AgentHello>][] = [
    [
      'has a name, a namespace, subscriptions and a user',
      { 'sensu-agentname': 'web-01', 'sensu-namespace': 'prod', 'sensu-subscriptions': 'a,b', 'sensu-user': 'agent' },
      { agentName: 'web-01', namespace: 'prod', subscriptions: ['a', 'b'], user: 'agent', queueId: undefined },
    ],
    [
      'may be spelled the neutral way',
      { 'mon-agentname': 'web-01', 'mon-namespace': 'prod', 'mon-subscriptions': 'a', 'mon-user': 'u' },
      { agentName: 'web-01', namespace: 'prod', subscriptions: ['a'], user: 'u' },
    ],
    [
      'may be spelled both ways when they agree',
      { 'sensu-agentname': 'web-01', 'mon-agentname': 'web-01' },
      { agentName: 'web-01' },
    ],
    [
      'skips empty subscriptions and does not trim the others',
      { 'sensu-agentname': 'web-01', 'sensu-subscriptions': ',a,, b,' },
      { subscriptions: ['a', ' b'] },
    ],
    ['has no subscriptions without the header', { 'sensu-agentname': 'web-01' }, { subscriptions: [], namespace: '' }],
    [
      'counts the first line of a repeated header',
      { 'sensu-agentname': ['web-01', 'web-02'] },
      { agentName: 'web-01' },
    ],
    [
      'names a queue when it asks for acknowledgements',
      { 'sensu-agentname': 'web-01', 'mon-ack': '1', 'mon-queue': QUEUE.toUpperCase() },
      { queueId: QUEUE },
    ],
    [
      'has no queue when it does not ask for acknowledgements',
      { 'sensu-agentname': 'web-01', 'mon-queue': QUEUE },
      { queueId: undefined },
    ],
  ];
  for (const [what, headers, expected] of accepted) {
    it(what, () => {
      expect(parseHello(headers)).to.deep.include(expected);
    });
  }

  const refused: [string, Record<string, string>][] = [
    ['without a name', {}],
    ['with an empty name', { 'sensu-agentname': '' }],
    ['with a name of special characters', { 'sensu-agentname': 'bad name!' }],
    ['with the name ..', { 'sensu-agentname': '..' }],
    ['with two spellings of another name', { 'sensu-agentname': 'web-01', 'mon-agentname': 'web-02' }],
    [
      'with two spellings of another namespace',
      { 'sensu-agentname': 'web-01', 'sensu-namespace': 'a', 'mon-namespace': 'b' },
    ],
    ['with a queue that is not a UUID', { 'sensu-agentname': 'web-01', 'mon-ack': '1', 'mon-queue': 'q' }],
  ];
  for (const [what, headers] of refused) {
    it(`${what} is refused`, () => {
      expect(() => parseHello(headers)).to.throw(HandshakeError);
    });
  }

  it('yields its namespace before the other headers are validated', () => {
    expect(namespaceOf({ 'sensu-agentname': 'bad name!', 'sensu-namespace': 'prod' })).to.equal('prod');
    expect(namespaceOf({ 'mon-namespace': 'prod' })).to.equal('prod');
    expect(namespaceOf({})).to.equal('');
  });

  it('is unchanged by a round trip through headers', () => {
    const name = fc.stringMatching(/^[\w:-]{1,30}$/);
    const hello = fc.record({
      agentName: name,
      namespace: name,
      subscriptions: fc.array(name, { maxLength: 5 }),
      user: name,
      queueId: fc.option(fc.uuid(), { nil: undefined }),
    });
    fc.assert(
      fc.property(hello, (sent) => {
        const headers = Object.entries(helloHeaders(sent, { username: 'agent', password: 'x' }));
        expect(parseHello(Object.fromEntries(headers.map(([key, value]) => [key.toLowerCase(), value])))).to.deep.equal(
          sent,
        );
      }),
    );
  });

  it('contains no user and no password with a client certificate', () => {
    const hello = { agentName: 'a', namespace: 'b', subscriptions: [], user: 'joe', queueId: undefined };
    expect(helloHeaders(hello, undefined)).to.not.have.any.keys('Sensu-User', 'Mon-User', 'Authorization');
  });

  it('parses any headers or throws HandshakeError', () => {
    const names = fc.constantFrom('agentname', 'namespace', 'subscriptions', 'user', 'ack', 'queue');
    const key = fc.tuple(fc.constantFrom('sensu', 'mon'), names).map((parts) => parts.join('-'));
    fc.assert(
      fc.property(fc.dictionary(key, fc.oneof(fc.string(), fc.array(fc.string()))), (headers) => {
        try {
          parseHello(headers);
        } catch (error) {
          expect(error).to.be.instanceOf(HandshakeError);
        }
      }),
    );
  });
});

describe('Basic credentials', () => {
  const encoded = (text: string): string => Buffer.from(text).toString('base64');

  const accepted: [string, string, string, string][] = [
    ['are a user and a password', `Basic ${encoded('agent:P@ssw0rd!')}`, 'agent', 'P@ssw0rd!'],
    ['may be announced in lower case', `basic ${encoded('agent:x')}`, 'agent', 'x'],
    ['end the user at the first colon', `Basic ${encoded('agent:a:b')}`, 'agent', 'a:b'],
    ['may have an empty password', `Basic ${encoded('agent:')}`, 'agent', ''],
    ['may be beyond ASCII', `Basic ${encoded('agent:pässwörd')}`, 'agent', 'pässwörd'],
  ];
  for (const [what, header, username, password] of accepted) {
    it(what, () => {
      expect(parseBasic(header)).to.deep.equal({ username, password });
    });
  }

  for (const header of [
    undefined,
    '',
    'Basic',
    'Basic !!!',
    'Bearer abc.def.ghi',
    'Key x',
    `Basic ${encoded('nobody')}`,
  ]) {
    it(`are not in ${JSON.stringify(header) ?? 'no header at all'}`, () => {
      expect(parseBasic(header)).to.equal(undefined);
    });
  }

  it('are unchanged by a round trip through a header', () => {
    const username = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes(':'));
    fc.assert(
      fc.property(username, fc.string({ unit: 'grapheme' }), (user, password) => {
        expect(parseBasic(basicHeader({ username: user, password }))).to.deep.equal({ username: user, password });
      }),
    );
  });
});

describe('the backend', () => {
  it('supports a format that has its own Accept line', () => {
    const type = 'application/octet-stream';
    expect(acceptsLine(['Accept', type, 'Accept', 'application/json'], type)).to.equal(true);
    expect(acceptsLine(['accept', 'application/json', 'ACCEPT', type], type)).to.equal(true);
    expect(acceptsLine(['Accept', `${type}, application/json`], type)).to.equal(false);
    expect(acceptsLine(['Content-Type', type, type, 'Accept'], type)).to.equal(false);
    expect(acceptsLine([], type)).to.equal(false);
  });

  it('acknowledges events when its response says so', () => {
    expect(acknowledgesEvents({ 'mon-ack': '1' })).to.equal(true);
    expect(acknowledgesEvents({ 'mon-ack': '0' })).to.equal(false);
    expect(acknowledgesEvents({})).to.equal(false);
  });
});
