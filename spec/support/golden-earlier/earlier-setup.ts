import type { BackendConfig } from '../../../src/config/backend.ts';
import type { ApiClient } from '../api-client.ts';
import type { RecordedSetup } from './earlier-recording.ts';

/** Members of definitions that only the first generation has. */
const EARLIER_ONLY = ['custom', 'standalone', 'proxy_requests'];

/** The configuration of a backend for a recording. */
export const configFor =
  ({ auth, datacenters }: RecordedSetup) =>
  (config: BackendConfig): BackendConfig => {
    const { earlierApi } = config;
    if (earlierApi === undefined) return config;
    const names = Object.keys(datacenters ?? {});
    return {
      ...config,
      earlierApi: {
        ...earlierApi,
        pair: auth && { username: auth.user, password: auth.password },
        datacenters: Object.fromEntries(names.map((name) => [name, name])),
        corsHeaders: {
          'Access-Control-Allow-Origin': '*',
          'Access-Control-Allow-Methods': 'GET, POST, PUT, DELETE, OPTIONS',
          'Access-Control-Allow-Headers': 'Origin, X-Requested-With, Content-Type, Accept, Authorization',
        },
      },
    };
  };

/** Creates what exists before the first step, in each datacenter. */
export async function createRecorded(
  api: ApiClient,
  setup: RecordedSetup,
  sinkPort: number | undefined,
): Promise<void> {
  const { checks = {}, handlers = [], datacenters } = setup;
  const put = async (path: string, resource: object): Promise<void> => {
    const { status, text } = await api.put(path, resource);
    if (status !== 201) throw new Error(`PUT of ${path} answered ${status} ${text}`);
  };
  for (const namespace of Object.keys(datacenters ?? { default: '' })) {
    if (datacenters !== undefined) await put(`/api/core/v2/namespaces/${namespace}`, { name: namespace });
    for (const name of handlers) {
      const socket = { host: '127.0.0.1', port: sinkPort };
      const handler = { type: 'tcp', socket, filters: ['is_incident', 'not_silenced'] };
      await put(`/ns/${namespace}/handlers/${name}`, { metadata: { name, namespace }, ...handler });
    }
    for (const [name, recorded] of Object.entries(checks)) {
      if (recorded['standalone'] === true) continue;
      await put(`/ns/${namespace}/checks/${name}`, { metadata: { name, namespace }, ...definitionOf(recorded) });
    }
  }
}

function definitionOf({ subscribers, handler, ...recorded }: Record<string, unknown>): object {
  const check = Object.fromEntries(Object.entries(recorded).filter(([name]) => !EARLIER_ONLY.includes(name)));
  return { ...check, subscriptions: subscribers, ...(handler === undefined ? {} : { handlers: [handler] }) };
}
