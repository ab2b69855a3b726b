import { hostname } from 'node:os';
import type * as AgentPorts from '../../src/actors/agents/agent-session.ts';
import type * as System from '../../src/actors/system.ts';
import type * as Directories from '../../src/main/process/directories.ts';
import type * as Clocks from '../../src/main/process/system-clock.ts';
import type { Log } from '../../src/ports/log.ts';
import type * as Events from '../../src/resources/event.ts';
import type * as Stores from '../../src/store/lmdb/lmdb-store.ts';
import type * as Protobuf from '../../src/wire/protobuf-codec.ts';
import { agentEvent, agentKeepalive } from '../support/agent-events.ts';
import { built } from '../support/built.ts';

/** Agents `agent-<n>`, each with a keepalive and results `check-<n>` with an armed check TTL. */
export interface SeededState {
  stateDir: string;
  entities: number;
  checksPerEntity: number;
}

const { ActorSystem } = await built<typeof System>('actors/system');
const { storeDirectory } = await built<typeof Directories>('main/process/directories');
const { systemClock } = await built<typeof Clocks>('main/process/system-clock');
const { parseEvent } = await built<typeof Events>('resources/event');
const { LmdbStore } = await built<typeof Stores>('store/lmdb/lmdb-store');
const { encodeEvent } = await built<typeof Protobuf>('wire/protobuf-codec');

/** Long enough that nothing expires during the measurement on a slow machine. */
const DEADLINE_S = 3_600;
/** Entities per wait for the store. */
const ENTITIES_PER_BATCH = 1_000;

const silent = (): void => undefined;
const log: Log = { error: silent, warn: silent, info: silent, debug: silent, child: () => log };

function sessionOf(agentName: string): AgentPorts.AgentSession {
  return {
    id: agentName,
    namespace: 'default',
    agentName,
    queueId: undefined,
    openedAtMs: Date.now(),
    silentMs: () => 0,
    ping: silent,
    close: silent,
    terminate: silent,
    stateChanged: silent,
    acknowledged: silent,
    inputsLost: (error) => {
      throw error;
    },
  };
}

/** Processes and stores the messages of agents as a backend does, without sockets. */
async function seed({ stateDir, entities, checksPerEntity }: SeededState): Promise<void> {
  const store = new LmdbStore({ directory: storeDirectory(stateDir), sync: 'none' });
  const system = new ActorSystem({ store, clock: systemClock, log, backendName: hostname() });
  await system.start();
  for (let entity = 0; entity < entities; entity += 1) {
    const name = `agent-${entity}`;
    const session = sessionOf(name);
    system.agents.receiveKeepalive(session, parseEvent(agentKeepalive(name, { warningS: DEADLINE_S })));
    for (let check = 0; check < checksPerEntity; check += 1) {
      const event = parseEvent(agentEvent(name, `check-${check}`, { ttl: DEADLINE_S }));
      system.agents.receiveEvent(session, { event, n: undefined, encoded: encodeEvent(event) });
    }
    if ((entity + 1) % ENTITIES_PER_BATCH === 0) await system.probe();
  }
  await system.stop();
  await store.close();
}

await seed(JSON.parse(process.argv[2] ?? '{}') as SeededState);
process.send?.('seeded', () => process.exit(0));
