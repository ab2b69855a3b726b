import { expect } from 'chai';
import {
  AlreadyExists,
  InvalidResource,
  NotFound,
  Overloaded,
  StaleRevision,
  StoreUnavailable,
} from '../../../src/resources/errors.ts';
import { ApiUnderTest } from '../api-under-test.ts';
import { perSuite } from '../../support/fixture.ts';

const EVENT = '/api/core/v2/namespaces/default/events/e/c';

describe('an error that a command throws', () => {
  const api = perSuite(() => ApiUnderTest.start());

  const deleting = async (failure: Error) => {
    api.failure = failure;
    return api.send({ method: 'DELETE', path: EVENT });
  };

  const table: [Error, number, { message: string; code: number }][] = [
    [new InvalidResource('no'), 400, { message: 'no', code: 1 }],
    [new NotFound(), 404, { message: 'not found', code: 2 }],
    [new AlreadyExists(), 409, { message: 'resource already exists', code: 3 }],
    [new StaleRevision(), 412, { message: 'precondition failed', code: 7 }],
    [new StoreUnavailable('the disk is full'), 503, { message: 'the disk is full', code: 0 }],
    [new Overloaded('later'), 503, { message: 'later', code: 0 }],
    [new Error('secret detail'), 500, { message: 'internal error occurred', code: 0 }],
  ];
  for (const [error, status, body] of table) {
    it(`is answered ${status} when it is ${error.constructor.name}`, async () => {
      const reply = await deleting(error);
      expect([reply.status, reply.body]).to.deep.equal([status, body]);
      expect(reply.headers['content-type']).to.equal('application/json');
      expect(reply.headers['x-content-type-options']).to.equal('nosniff');
      expect(reply.headers['retry-after']).to.equal(status === 503 ? '1' : undefined);
    });
  }

  it('is logged with its stack when it is not an ExpectedError', async () => {
    const failure = new Error('a bug');
    api.log.lines.length = 0;
    await deleting(failure);
    expect(api.log.lines.map(({ level, msg }) => [level, msg])).to.deep.equal([['error', 'request failed']]);
    expect(api.log.lines[0]?.fields).to.include({ err: failure, method: 'DELETE', path: EVENT });
  });
});
