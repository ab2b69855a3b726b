import { NO_ENVIRONMENT } from '../../src/pipeline/handlers/handler-result.ts';
import type { WorkflowPorts } from '../../src/pipeline/workflow-run.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Handler } from '../../src/resources/handler.ts';
import { RecordedLog } from './recorded-log.ts';

const notUsed = (what: string) => (): never => {
  throw new Error(`${what} is not used in this test`);
};

/** Ports of a workflow without stored filters, stored mutators, assets and secrets. */
export const plainWorkflowPorts = (
  clock: Clock,
  handler: (namespace: string, name: string) => Handler | undefined,
): Omit<WorkflowPorts, 'handle'> => ({
  clock,
  log: new RecordedLog(),
  handler,
  namespaceExists: () => true,
  filters: { filter: () => undefined, libraries: notUsed('a library'), evaluate: notUsed('the sandbox') },
  mutators: {
    mutator: () => undefined,
    environment: notUsed('an environment'),
    libraries: notUsed('a library of a mutator'),
    variable: notUsed('a variable'),
    evaluate: notUsed('the sandbox'),
    runCommand: notUsed('a command'),
    runLimitMs: 0,
    log: new RecordedLog(),
  },
  environment: () => Promise.resolve(NO_ENVIRONMENT),
});
