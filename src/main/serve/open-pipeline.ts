import type { ActorSystem } from '../../actors/system.ts';
import type { BackendConfig } from '../../config/backend.ts';
import { isOwnSecret } from '../../exec/own-secret.ts';
import { type Account, type CommandRequest, runCommand } from '../../exec/process-group.ts';
import { ProcessReaper } from '../../exec/process-reaper.ts';
import { ClosingSockets } from '../../pipeline/handlers/closing-sockets.ts';
import { runPipeHandler } from '../../pipeline/handlers/pipe.ts';
import { runSocketHandler } from '../../pipeline/handlers/socket.ts';
import { EventLookups } from '../../pipeline/event-lookups.ts';
import type { MutatorPorts } from '../../pipeline/mutators.ts';
import { type ResourceEnvironmentPorts, resourceEnvironment } from '../../pipeline/resource-environment.ts';
import { type HandleEvent, workflowRunner } from '../../pipeline/workflow-run.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { EventStore } from '../../store/event-store.ts';
import { readResource } from '../../store/resource-store.ts';
import type { TransactionalStore } from '../../store/commit/transactional-store.ts';
import { quarantineDirectory } from '../process/directories.ts';
import type { Closers } from './closers.ts';
import { type StartedPipeline, startPipeline } from './start-pipeline.ts';

export interface OpenPipelinePorts {
  system: ActorSystem;
  store: TransactionalStore;
  /** Runs the JavaScript of filters and mutators. */
  sandbox: Pick<Sandbox, 'filter' | 'mutate'>;
  /** Installs runtime assets, and resolves secrets. */
  environment: ResourceEnvironmentPorts;
  /** The JavaScript sources of a filter's assets. */
  libraries: MutatorPorts['libraries'];
  /** Measures the runs of handlers. */
  durations: { observing(handle: HandleEvent, clock: Clock): HandleEvent };
  /** The user account under which commands run; by default that of the backend. */
  account?: Account | undefined;
  backendName: string;
  clock: Clock;
  log: Log;
}

type Config = Pick<
  BackendConfig,
  'stateDir' | 'handlerRunLimitMs' | 'handlerRetryForMs' | 'handlerPatienceMs' | 'handlerWorkers'
>;

/** Starts handling the outbox with real processes, sockets and threads, and measures how long handlers take. */
export function openPipeline(
  {
    stateDir,
    handlerRunLimitMs: runLimitMs = 0,
    handlerRetryForMs = 0,
    handlerPatienceMs: patienceMs,
    handlerWorkers: maxRunning,
  }: Config,
  { system, store, sandbox, environment, libraries, durations, account, backendName, clock, log }: OpenPipelinePorts,
  closers: Closers,
): Pick<StartedPipeline, 'pipeline' | 'quarantine'> {
  const reaper = new ProcessReaper(log);
  closers.add(() => {
    reaper.close();
  });
  const closing = new ClosingSockets(clock);
  closers.add(() => {
    closing.close();
  });
  const handle: HandleEvent = (handler, input) =>
    handler.type === 'pipe'
      ? runPipeHandler(handler, input, clock, { runLimitMs, reaper, account })
      : runSocketHandler(handler, input, clock, closing);
  const environmentOf = resourceEnvironment(environment);
  const lookups = new EventLookups(new EventStore(store));
  const run = workflowRunner({
    clock,
    log,
    handler: (namespace, name) => readResource(store, 'handlers', namespace, name),
    namespaceExists: (name) => readResource(store, 'namespaces', undefined, name) !== undefined,
    filters: {
      filter: (namespace, name) => readResource(store, 'filters', namespace, name),
      libraries: (namespace, name, filter, signal) =>
        libraries(namespace, `filter "${name}"`, filter.runtime_assets, signal),
      evaluate: (task, owner) => sandbox.filter({ ...task, events: lookups.of(owner.namespace) }, owner),
    },
    mutators: {
      mutator: (namespace, name) => readResource(store, 'mutators', namespace, name),
      environment: environmentOf,
      libraries,
      variable: (name) => (isOwnSecret(name) ? undefined : process.env[name]),
      evaluate: (task, owner) => sandbox.mutate({ ...task, events: lookups.of(owner.namespace) }, owner),
      runCommand: (request: CommandRequest) => runCommand({ ...request, account }, clock, reaper),
      runLimitMs,
      log,
    },
    environment: environmentOf,
    handle: durations.observing(handle, clock),
  });
  const { pipeline, loaded, quarantine } = startPipeline(system, store, {
    clock,
    log,
    random: Math.random,
    run,
    handlerRetryForMs,
    maxRunning,
    patienceMs,
    backendName,
    quarantineDirectory: quarantineDirectory(stateDir),
  });
  closers.add(async () => {
    await pipeline.stop();
    await loaded;
    await quarantine.settled();
  });
  return { pipeline, quarantine };
}
