import { type ActorRefFrom, createActor, setup } from 'xstate';
import { supervisorLogic } from './supervisor.ts';
import type { ActorKind } from './actor-kind.ts';

type Supervisor = ActorRefFrom<typeof supervisorLogic>;

/** The supervisors under the root, by the kind of actor they watch over. */
const SYSTEM_IDS: Record<ActorKind, string> = {
  entity: 'entities',
  'check-ttl': 'check-ttls',
  connection: 'connections',
  'check-schedule': 'schedules',
};

interface RootContext {
  failed(kind: ActorKind, key: string, error: unknown): void;
}

const machine = setup({
  types: { context: {} as RootContext, input: {} as RootContext },
  actors: { supervisor: supervisorLogic },
});

const supervisorOf = (kind: ActorKind) =>
  ({
    src: 'supervisor',
    systemId: SYSTEM_IDS[kind],
    input: ({ context }: { context: RootContext }) => ({
      failed: (key: string, error: unknown) => {
        context.failed(kind, key, error);
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

/** Starts a system with its supervisors; `failed` hears of every actor that stopped with an error. */
export function startRoot(failed: RootContext['failed']): {
  supervisors: Record<ActorKind, Supervisor>;
  stop(): void;
} {
  const root = createActor(rootMachine, { input: { failed } }).start();
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
