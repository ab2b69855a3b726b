import { expect } from 'chai';
import { AssetFailed, FetchFailed } from '../../src/assets/asset-failed.ts';
import { NotStarted } from '../../src/pipeline/not-started.ts';
import { RunEnded } from '../../src/pipeline/run-ended.ts';
import { runtimeAssets } from '../../src/pipeline/runtime-assets.ts';
import type { Asset } from '../../src/resources/asset.ts';
import { Overloaded } from '../../src/resources/errors.ts';

const OWNER = { namespace: 'default', name: 'handler "mail"', assets: ['tool'] };

/** The error of a system call. */
const systemError = (code: string): Error => Object.assign(new Error(`${code}: open`), { code });

/** How an asset fails whose fetch failed because of another error. */
const failedBy = (cause: unknown): AssetFailed =>
  new AssetFailed('tool', 'no', { cause: new FetchFailed('error fetching asset', { cause }) });

describe('the runtime assets of a handler', () => {
  const failureOf = async (error: Error): Promise<unknown> => {
    const asset = (): Asset => ({ metadata: { name: 'tool' } }) as Asset;
    const install = (): Promise<never> => Promise.reject(error);
    const isAssetFailure = (failure: unknown): boolean => failure instanceof AssetFailed;
    try {
      return await runtimeAssets({ asset, install, isAssetFailure }, OWNER);
    } catch (failure) {
      return failure;
    }
  };

  for (const code of ['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'ENOBUFS']) {
    it(`are tried again when they cannot be installed because of ${code}`, async () => {
      const failure = await failureOf(failedBy(systemError(code)));
      expect(failure).to.be.instanceOf(NotStarted).with.property('message', 'handler "mail": asset "tool": no');
      expect(await failureOf(failedBy(new AggregateError([systemError(code)])))).to.be.instanceOf(NotStarted);
    });
  }

  it('are tried again when too many tasks wait in the sandbox to evaluate their filters', async () => {
    const cause = new Overloaded('too many expressions wait to be evaluated');
    expect(await failureOf(new AssetFailed('tool', 'no', { cause }))).to.be.instanceOf(NotStarted);
  });

  it('end the run when they cannot be installed for another reason', async () => {
    for (const cause of [systemError('ECONNREFUSED'), systemError('EACCES'), undefined]) {
      expect(await failureOf(failedBy(cause))).to.be.instanceOf(RunEnded);
    }
    expect(await failureOf(systemError('EMFILE'))).to.have.property('code', 'EMFILE');
  });
});
