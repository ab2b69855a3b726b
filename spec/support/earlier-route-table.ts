import { createServer } from 'node:http';
import { ActorSystem } from '../../src/actors/system.ts';
import { createAuth } from '../../src/auth/auth.ts';
import { EarlierRequestCounts } from '../../src/http/earlier/earlier-request-counts.ts';
import type { EarlierApi } from '../../src/http/earlier/earlier-api.ts';
import { earlierApisOf } from '../../src/main/serve/earlier-api.ts';
import { ResourceStore } from '../../src/store/resource-store.ts';
import { configOf } from './in-process-backend.ts';
import { ManualClock } from './manual-clock.ts';
import { MemoryStore } from './memory-store.ts';
import { RecordedLog } from './recorded-log.ts';

/** Returns all routes of the API of the first generation, from the tables by which requests are routed. */
export async function earlierRouteTable(listener: 'core' | 'dashboard'): Promise<EarlierApi['routes']> {
  const [store, clock, log] = [new MemoryStore(), new ManualClock(), new RecordedLog()];
  const resources = new ResourceStore(store);
  const system = new ActorSystem({ store, clock, log, backendName: 'backend' });
  const auth = createAuth({ resources, commands: system.commands, tokenSecret: Buffer.alloc(32, 7), clock, log });
  const apis = earlierApisOf(configOf(''), {
    system,
    store,
    resources,
    auth,
    agentPort: { server: createServer() },
    pipeline: { waiting: 0, isStopped: false },
    earlierRequests: new EarlierRequestCounts(),
    clusterUuid: '',
    clock,
    log,
  });
  await system.stop();
  return apis[listener]?.routes ?? [];
}
