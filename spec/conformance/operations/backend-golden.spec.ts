import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { BACKEND_EXCEPTIONS } from '../../support/golden-backend-exceptions.ts';
import { GoldenProgram, type ProgramStep } from '../../support/golden-program.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const stepsOf = (name: string): readonly ProgramStep[] => {
  const file = fileURLToPath(new URL(`../../golden/backend/${name}.json`, import.meta.url));
  return (JSON.parse(readFileSync(file, 'utf8')) as { steps: readonly ProgramStep[] }).steps;
};

/** What mon does at a step: as recorded, unless the recording or `BACKEND_EXCEPTIONS` says otherwise. */
function expectedAt(name: string, index: number, { expect: recorded = {}, ours = {} }: ProgramStep) {
  const exception = BACKEND_EXCEPTIONS.find(
    ({ recording, step }) => recording === `backend/${name}.json` && step === index + 1,
  );
  // Texts and headers belong to the recorded status.
  const base = Object.hasOwn(ours, 'status') || Object.hasOwn(ours, 'exit') ? {} : recorded;
  return { ...base, ...ours, ...(exception?.ours as Record<string, unknown> | undefined) };
}

describe('the backend program, driven as the reference was when it was recorded', function () {
  this.timeout(180_000);

  for (const name of ['init', 'init-key', 'probes', 'signals']) {
    it(`acts as recorded at every step: backend/${name}`, async () => {
      const directory = await temporaryDirectory();
      const program = new GoldenProgram(directory.path);
      const failures: string[] = [];
      try {
        for (const [index, step] of stepsOf(name).entries()) {
          const found = await program.play(step, expectedAt(name, index, step));
          if (found !== undefined) failures.push(`step ${index + 1} (${step.op} ${step.path ?? ''}): ${found}`);
        }
      } finally {
        await program.end();
        await directory.remove();
      }
      expect(failures.join('\n')).to.equal('');
    });
  }

  it('acts otherwise only at steps that are recorded', () => {
    for (const { recording, step } of BACKEND_EXCEPTIONS) {
      const name = recording.replace(/^backend\/|\.json$/g, '');
      expect(stepsOf(name)[Number(step) - 1], `${recording} step ${step}`).to.be.an('object');
    }
  });
});
