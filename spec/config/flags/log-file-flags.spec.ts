import { expect } from 'chai';
import { parseAgentConfig } from '../../../src/config/agent.ts';
import { parseBackendConfig } from '../../../src/config/backend.ts';
import { mistakesOf } from '../mistakes.ts';
import { sources } from '../sources.ts';
import { AGENT_HERE } from '../agent-here.ts';

const HOUR_MS = 3_600_000;

for (const { program, parse } of [
  { program: 'mon-backend start', parse: (argv: string[]) => parseBackendConfig(sources({ argv })) },
  { program: 'mon-agent start', parse: (argv: string[]) => parseAgentConfig(sources({ argv }), AGENT_HERE) },
]) {
  const logFileOf = (...argv: string[]) => {
    const parsed = parse(argv);
    if ('help' in parsed) throw new Error('help instead of a configuration');
    return parsed.config.logFile;
  };

  describe(`the log file of ${program}`, () => {
    it('is absent by default', () => {
      expect(logFileOf()).to.equal(undefined);
    });

    it('has the limits of the reference by default', () => {
      expect(logFileOf('--log-file=/l')).to.deep.equal({
        file: '/l',
        maxBytes: 128_000_000,
        retentionMs: 168 * HOUR_MS,
        maxRotated: 10,
        reaperIntervalMs: 60_000,
      });
    });

    for (const [size, bytes] of [
      ['128 MB', 128_000_000],
      ['1GiB', 2 ** 30],
      ['1.5kb', 1_500],
      ['4096', 4_096],
      ['0', 0],
    ] as const) {
      it(`may have ${bytes} bytes: --log-max-size ${size}`, () => {
        expect(logFileOf('--log-file=/l', '--log-max-size', size)).to.have.property('maxBytes', bytes);
      });
    }

    for (const size of ['', 'much', '-1', '1 XB', 'MB', '1e400']) {
      it(`cannot have a size such as "${size}"`, () => {
        const [mistake] = mistakesOf(() => parse([`--log-max-size=${size}`]));
        expect(mistake).to.match(/invalid argument ".*" for "--log-max-size" flag: must be a size/);
      });
    }

    it('cannot be searched without a pause', () => {
      const mistakes = mistakesOf(() => parse(['--log-reaper-interval=0']));
      expect(mistakes).to.deep.equal(['log-reaper-interval must be above 0']);
    });
  });
}
