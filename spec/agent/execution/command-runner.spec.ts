import { expect } from 'chai';
import { CommandRunner } from '../../../src/agent/execution/command-runner.ts';
import { systemClock } from '../../../src/main/process/system-clock.ts';
import type { Asset } from '../../../src/resources/asset.ts';

describe('a command runner', () => {
  it('aborts a command whose assets were being installed, and does not deny it for its missing file', async () => {
    const abort = new AbortController();
    const install = (_assets: readonly Asset[], signal: AbortSignal): Promise<never> => {
      abort.abort();
      return Promise.reject(signal.reason as Error);
    };
    const program = { exec: 'tool', args: [''], sha512: 'f'.repeat(128), allowsEnvironment: true };
    const runner = new CommandRunner({ clock: systemClock, assets: { install }, allowList: [program] });
    const rest = { stdin: undefined, timeoutS: 0, secrets: [], variables: [] };
    const result = await runner.run({ command: 'tool', assets: [{} as Asset], ...rest }, abort.signal);
    expect(result).to.include({ ending: 'aborted' });
  });
});
