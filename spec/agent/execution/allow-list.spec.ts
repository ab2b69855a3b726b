import { expect } from 'chai';
import { allowedBy, parseAllowList } from '../../../src/agent/execution/allow-list.ts';

const list = (...entries: object[]) => parseAllowList('allow.json', JSON.stringify(entries));

describe('an allow list', () => {
  for (const { args, command, isAllowed } of [
    { args: ['-h a.ex', '-h b.ex'], command: 'chk.sh -h b.ex  -h a.ex ', isAllowed: true },
    { args: ['-h a.ex', '-h b.ex'], command: 'chk.sh -h a.ex', isAllowed: true },
    { args: ['-h b.ex'], command: 'chk.sh -h a.ex -h b.ex', isAllowed: false },
    { args: [''], command: 'chk.sh', isAllowed: true },
    { args: [''], command: '', isAllowed: false },
    { args: [''], command: 'chk.sh; reboot', isAllowed: false },
    { args: ['-h a.ex', '/sbin/reboot'], command: '-h a.ex chk.sh\n/sbin/reboot', isAllowed: false },
    { args: ['-e one\ntwo'], command: 'chk.sh -e one\ntwo\n', isAllowed: true },
  ]) {
    it(`with ${JSON.stringify(args)} ${isAllowed ? 'allows' : 'denies'} ${JSON.stringify(command)}`, () => {
      expect(allowedBy(list({ exec: 'chk.sh', args }), command) !== undefined).to.equal(isAllowed);
    });
  }

  it('uses the first entry that allows a command', () => {
    const entries = list({ exec: 'a', args: ['b'], enable_env: true }, { exec: 'a', args: ['b'] });
    expect(allowedBy(entries, 'a b')?.allowsEnvironment).to.equal(true);
  });

  it('ignores fields that it does not know, and reads checksums in any case', () => {
    expect(list({ exec: 'a', args: ['b'], sha512: 'ABC', comment: 'x' })).to.deep.equal([
      { exec: 'a', args: ['b'], sha512: 'abc', allowsEnvironment: false },
    ]);
  });

  for (const [path, content, error] of [
    ['allow.txt', '[]', 'invalid file extension'],
    ['allow.json', '[{"args":["x"]}]', 'exec cannot be empty'],
    ['allow.yml', '- exec: a\n', 'args cannot be empty'],
    ['allow.yaml', '- exec: [', 'Flow sequence'],
    ['allow.json', '{"exec":"a"}', 'must be array'],
    ['allow.json', '[{"exec":1,"args":["x"]}]', 'exec must be string'],
  ] as const) {
    it(`is refused: ${path} with ${JSON.stringify(content)}`, () => {
      expect(() => parseAllowList(path, content)).to.throw(error);
    });
  }

  it('allows every command when it is empty', () => {
    expect(parseAllowList('allow.yaml', '')).to.deep.equal([]);
    expect(parseAllowList('allow.json', '[]')).to.deep.equal([]);
  });
});
