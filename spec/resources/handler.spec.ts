import { expect } from 'chai';
import { assertHandler, parseHandlerShape } from '../../src/resources/handler.ts';
import { validationErrorOf } from '../support/validation-error.ts';

const handler = (changes: object): object => ({ metadata: { name: 'h', namespace: 'default' }, ...changes });

describe('a handler definition', () => {
  const cases: [object, string | undefined][] = [
    [{ type: 'pipe', command: 'cat' }, undefined],
    [{ type: 'pipe', command: 'cat', timeout: 4_294_967_295, env_vars: ['nope'], mutator: 'a b' }, undefined],
    [{ type: 'pipe' }, 'missing command'],
    [{ type: 'pipe', command: ' \t' }, 'missing command'],
    [{ type: 'tcp', socket: { host: 'x', port: 99_999 } }, undefined],
    [{ type: 'udp', socket: { host: '::1', port: 1 } }, undefined],
    [{ type: 'tcp', command: 'cat' }, 'tcp and udp handlers need a valid socket'],
    [{ type: 'udp', socket: null }, 'tcp and udp handlers need a valid socket'],
    [{ type: 'udp', socket: {} }, 'socket host undefined'],
    [{ type: 'tcp', socket: { host: 'x' } }, 'socket port undefined'],
    [{ type: 'set' }, undefined],
    [{ type: 'set', handlers: ['h', 'h', ''] }, undefined],
    [{}, 'empty handler type'],
    [{ type: 'Pipe', command: 'cat' }, 'unknown handler type: Pipe'],
    [{ type: 'grpc' }, 'unknown handler type: grpc'],
    [{ metadata: { namespace: 'default' } }, 'handler name must not be empty'],
    [{ metadata: { name: 'a b' }, type: 'nope' }, 'handler name cannot contain spaces or special characters'],
    [{ metadata: { name: 'h' }, type: 'nope' }, 'unknown handler type: nope'],
    [{ metadata: { name: 'h' }, type: 'set' }, 'namespace must be set'],
  ];
  for (const [changes, message] of cases) {
    it(`is ${message === undefined ? 'accepted' : 'rejected'} with ${JSON.stringify(changes)}${message === undefined ? '' : `: ${message}`}`, () => {
      expect(validationErrorOf(() => assertHandler(parseHandlerShape(handler(changes))))).to.equal(message);
    });
  }

  const shapes: object[] = [
    { timeout: -1 },
    { timeout: 4_294_967_296 },
    { socket: 'x' },
    { socket: { port: -1 } },
    { handlers: 'x' },
    { secrets: [null] },
  ];
  for (const shape of shapes) {
    it(`does not match the schema with ${JSON.stringify(shape)}`, () => {
      expect(validationErrorOf(() => parseHandlerShape(handler(shape)))).to.be.a('string');
    });
  }

  it('renders empty members as clients expect', () => {
    const rendered = JSON.stringify(parseHandlerShape({ metadata: {}, socket: {}, handlers: [], secrets: [{}] }));
    expect(JSON.parse(rendered)).to.deep.equal({
      metadata: {},
      timeout: 0,
      socket: { port: 0 },
      handlers: null,
      filters: null,
      env_vars: null,
      runtime_assets: null,
      secrets: [{}],
    });
  });
});
