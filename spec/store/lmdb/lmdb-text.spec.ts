import { spawnSync } from 'node:child_process';
import { expect } from 'chai';

describe('the native module of LMDB', () => {
  it('writes no error text that is longer than its buffer', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/patch-lmdb.js', '--check'], { encoding: 'utf8' });
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
  });
});
