import { runAgent } from './agent-program.ts';
import { createLogger, exitWith } from './log/logger.ts';
import { hideSecrets } from './process/hide-secrets.ts';
import { processHost } from './process/host.ts';
import { ignoreSignals } from './process/ignore-signals.ts';

ignoreSignals();
const log = createLogger('agent', 'info');
const host = processHost(hideSecrets(log), (code) => void exitWith(code, log));
void runAgent(process.argv.slice(2), {
  host,
  log,
  parts: { config: () => import('../config/agent.ts'), start: () => import('./start-agent.ts') },
});
