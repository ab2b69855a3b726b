import { Closers } from '../../../src/main/serve/closers.ts';
import { boundAddress } from '../../../src/main/serve/listen.ts';
import { openDebug } from '../../../src/main/serve/open-debug.ts';
import { systemClock } from '../../../src/main/process/system-clock.ts';
import { RecordedLog } from '../../support/recorded-log.ts';

/** A program with a small heap that serves its profiles. It prints its port. */
const [, , stateDir = ''] = process.argv;
const debug = { host: '127.0.0.1', port: 0 };
const server = await openDebug({ debug, stateDir }, { clock: systemClock, log: new RecordedLog() }, new Closers());
if (server !== undefined) process.stdout.write(`${boundAddress(server).port}\n`);
