import { constants, setPriority } from 'node:os';
import { runBackend } from './backend-program.ts';
import { createLogger, exitWith } from './log/logger.ts';
import { hideSecrets } from './process/hide-secrets.ts';
import { processHost } from './process/host.ts';
import { ignoreSignals } from './process/ignore-signals.ts';

ignoreSignals();
const log = createLogger('mon-backend', 'warn');
const host = {
  ...processHost(hideSecrets(log), (code) => void exitWith(code, log)),
  console: { input: process.stdin, output: process.stdout },
  load: async () => ({ ...(await import('./start-backend.ts')), ...(await import('./process/machine.ts')) }),
  printError: (text: string) => void process.stderr.write(text),
  yieldProcessor: () => setPriority(constants.priority.PRIORITY_LOW),
};
void runBackend(process.argv.slice(2), host, log).then((code) => {
  if (code !== undefined) process.exitCode = code;
});
