import { type ActorRefFrom, createActor, setup } from 'xstate';
import type { ActorKind } from './actor-kind.ts';
import type { FailureQueue } from './failure-queue.ts';
import { supervisorLogic } from './supervisor.ts';

type Supervisor = ActorRefFrom<typeof supervisorLogic>;

/** The supervisors under the root, by the kind of actor that they supervise. */
const SYSTEM_IDS: Record<ActorKind, string> = {
  entity: 'entities',
  'check-ttl': 'check-ttls',
  connection: 'connections',
  'check-schedule': 'schedules',
};

interface RootContext {
  failures: Pick<FailureQueue, 'add'>;
}

const machine = setup({
  types: { context: {} as RootContext, input: {} as RootContext },
  actors: { supervisor: supervisorLogic },
});

const supervisorOf = (kind: ActorKind) =>
  ({
    src: 'supervisor',
    systemId: SYSTEM_IDS[kind],
    input: ({ context: { failures } }: { context: RootContext }) => ({
      failed: (key: string, cause: unknown) => {
        failures.add({ kind, key, cause });
      },
    }),
  }) as const;

/** The root of the one actor system of a backend. */
const rootMachine = machine.createMachine({
  id: 'root',
  context: ({ input }) => input,
  invoke: [
    supervisorOf('entity'),
    supervisorOf('check-ttl'),
    supervisorOf('connection'),
    supervisorOf('check-schedule'),
  ],
});

export interface Root {
  supervisors: Record<ActorKind, Supervisor>;
  /** Stops the supervisors. XState does not see keyed actors as children: their owner evicts them first. */
  stop(): void;
}

/** Starts the actor system with its supervisors, which add every failure of an actor to `failures`. */
export function startRoot(failures: RootContext['failures']): Root {
  const root = createActor(rootMachine, { input: { failures } }).start();
  const supervisors = Object.fromEntries(
    Object.entries(SYSTEM_IDS).map(([kind, systemId]) => [kind, root.system.get(systemId) as Supervisor]),
  ) as Record<ActorKind, Supervisor>;
  return {
    supervisors,
    stop: () => {
      root.stop();
    },
  };
}
