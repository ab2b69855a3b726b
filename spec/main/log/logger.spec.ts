import { expect } from 'chai';
import { createLogger, type Logger } from '../../../src/main/log/logger.ts';

describe('a line of the log', () => {
  let lines: string[];
  let log: Logger;

  beforeEach(() => {
    lines = [];
    log = createLogger('backend', 'info', { write: (line) => lines.push(line) });
  });

  const fields = (): unknown => {
    const { time, ...others } = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
    expect(time).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    return others;
  };

  it('has the fields of its logger first, and its own field replaces one with the same name', () => {
    log.child({ agent: 'web-1', code: 1 }).info({ code: 1006, user: 'agent' }, 'agent disconnected');
    expect(fields()).to.deep.equal({
      level: 'info',
      component: 'backend',
      agent: 'web-1',
      code: 1006,
      user: 'agent',
      msg: 'agent disconnected',
    });
    expect(lines[0]).to.match(/^\{"level":"info","time":"[^"]+","component":"backend","agent":"web-1",/);
  });

  it('hides secrets in its fields, one level below and in those of its logger, and does not change the objects', () => {
    const request = { method: 'GET', authorization: 'Basic x', nested: { token: 'shown' } };
    const own = { password: 'hunter2', request, list: ['token'], none: null, secrets: ['a'], token: undefined };
    log.child({ api_key: 'k', handler: { secret: 's', name: 'mail' } }).info(own, 'login');
    expect(fields()).to.deep.equal({
      level: 'info',
      component: 'backend',
      api_key: 'REDACTED',
      handler: { secret: 'REDACTED', name: 'mail' },
      password: 'REDACTED',
      request: { method: 'GET', authorization: 'REDACTED', nested: { token: 'shown' } },
      list: ['token'],
      none: null,
      secrets: 'REDACTED',
      msg: 'login',
    });
    expect([own.password, request.authorization]).to.deep.equal(['hunter2', 'Basic x']);
  });

  it('has the messages of an error and its causes', () => {
    const err = new Error('cannot send', { cause: new Error('connection refused') });
    log.error({ err: Object.assign(err, { code: 'ECONNREFUSED' }), token: 't' }, 'handler failed');
    expect(fields()).to.deep.equal({
      level: 'error',
      component: 'backend',
      token: 'REDACTED',
      error: 'cannot send: connection refused',
      msg: 'handler failed',
    });
  });
});
