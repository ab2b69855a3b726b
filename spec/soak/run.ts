import { spawnSync } from 'node:child_process';
import { parseDurationMs } from '../../src/resources/duration.ts';

/** `npm run test:soak -- 24h` runs each soak for that time, or for its default time; further arguments are those of mocha. */
const [duration, ...others] = process.argv.slice(2);
const durationMs = duration === undefined ? undefined : parseDurationMs(duration);
const rest = duration === undefined || durationMs !== undefined ? others : [duration, ...others];
const minutes = durationMs === undefined ? {} : { MON_SOAK_MINUTES: String(durationMs / 60_000) };
const { status } = spawnSync('mocha', ['--config', 'spec/soak/.mocharc.json', ...rest], {
  stdio: 'inherit',
  env: { ...process.env, ...minutes },
});
process.exit(status ?? 1);
