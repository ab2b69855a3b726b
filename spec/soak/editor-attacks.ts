import type { ApiAnswer, ApiClient } from '../support/api-client.ts';
import { exampleResources } from '../support/example-resources.ts';
import type { SeededRandom } from '../support/seeded-random.ts';

/** The namespace of the attacker's role `edit`, and one that is not. */
export const OWN = 'tenant';
export const FOREIGN = 'other';

export interface Target {
  /** The attacker's client. */
  api: ApiClient;
  /** The process id of the backend. */
  pid: number;
  stateDir: string;
  apiPort: number;
  random: SeededRandom;
  /** Whether the role of the attacker may configure handlers and mutators. */
  runsCommands: boolean;
}

/** An answer, and whether the attack succeeds if the request does. */
interface Attempt {
  answer: ApiAnswer;
  isForbidden?: boolean;
}

type Attack = (target: Target, n: number) => Promise<Attempt[]>;

/** Commands that look for secrets, or try to end or to slow the backend. */
const commands = ({ pid, stateDir, apiPort }: Target): string[] => [
  `cat ${stateDir}/store/data.mdb ${stateDir}/control.sock | base64 | head -c 900`,
  `tr '\\0' '\\n' < /proc/${pid}/environ | head -c 900`,
  `env | head -c 900`,
  `tr '\\0' ' ' < /proc/${pid}/cmdline; ls -la ${stateDir}`,
  `kill -9 ${pid}; kill -TERM ${pid}; kill -STOP ${pid}`,
  `kill -9 $PPID`,
  `head -c 50000000 /dev/zero`,
  `sleep 300`,
  `for i in 1 2 3 4 5 6 7 8; do sleep 300 & done; wait`,
  `trap '' TERM INT; sleep 300`,
  `rm -rf ${stateDir}/store ${stateDir}/*`,
  `echo x > ${stateDir}/store/data.mdb`,
  `curl -s -m 1 http://127.0.0.1:${apiPort}/api/core/v2/users || true`,
];

/** Expressions that do not end, take memory, or look for the host of the sandbox. */
const SCRIPTS = [
  'while (true) {}',
  'new Array(1e9).fill("x").join("")',
  '(function deep() { return deep() + deep(); })()',
  '/^(a+)+$/.test("a".repeat(40) + "!")',
  'this.constructor.constructor("return process")().exit()',
  'Function("return globalThis.process.env")()',
  'JSON.stringify(globalThis).length > 0 && globalThis.constructor.constructor("return require")()("fs")',
  'event.__proto__.polluted = "yes"',
  'let text = "x"; for (;;) text += text;',
];

const HOSTILE_NAMES = ['../../users/admin', '..%2f..%2fusers', 'a%00b', 'x'.repeat(5_000), 'é', '__proto__'];
const LARGE = 'x'.repeat(400_000);

const home = (namespace: string): string => `/ns/${namespace}`;
const metadata = (name: string, namespace = OWN) => ({ name, namespace });

const resultOf = (entity: string, check: string, result: object, namespace = OWN) => ({
  entity: { entity_class: 'proxy', metadata: metadata(entity, namespace) },
  check: { metadata: metadata(check, namespace), interval: 60, output: '', ...result },
});

/** Writes to another namespace and to the cluster, by every method. */
const writeElsewhere: Attack = async ({ api, random }, n) => {
  const examples = exampleResources(FOREIGN);
  const example = examples[random.below(examples.length)];
  if (example === undefined) return [];
  const name = `evil-${n}`;
  const kept = `${example.home}/${encodeURIComponent(example.id?.('kept') ?? 'kept')}`;
  return [
    { answer: await api.post(example.home, example.body(name)), isForbidden: true },
    { answer: await api.put(kept, example.body('kept')), isForbidden: true },
    { answer: await api.patch(kept, { metadata: { labels: { evil: 'yes' } } }), isForbidden: true },
    { answer: await api.delete(kept), isForbidden: true },
    { answer: await api.get(example.home), isForbidden: !example.home.endsWith('/namespaces') },
  ];
};

/** Names the other namespace in a body, while the URL has its own. */
const smuggle: Attack = async ({ api }, n) => {
  const body = { metadata: metadata(`smuggled-${n}`, FOREIGN), command: 'true', interval: 60 };
  const foreign = resultOf('victim', `smuggled-${n}`, { status: 2 }, FOREIGN);
  return [
    { answer: await api.post(`${home(OWN)}/checks`, body), isForbidden: true },
    { answer: await api.put(`${home(OWN)}/checks/smuggled-${n}`, body), isForbidden: true },
    { answer: await api.put(`${home(OWN)}/events/victim/smuggled-${n}`, foreign), isForbidden: true },
  ];
};

/** Gives itself more rights. */
const escalate: Attack = async ({ api }, n) => {
  const core = '/api/core/v2';
  const subjects = [{ type: 'User', name: 'mallory' }];
  const role_ref = { type: 'ClusterRole', name: 'cluster-admin' };
  const binding = { metadata: { name: `up-${n}` }, subjects, role_ref };
  return [
    { answer: await api.post(`${core}/clusterrolebindings`, binding), isForbidden: true },
    {
      answer: await api.post(`${home(OWN)}/rolebindings`, { ...binding, metadata: metadata(`up-${n}`) }),
      isForbidden: true,
    },
    {
      answer: await api.put(`${core}/users/mallory`, { username: 'mallory', groups: ['cluster-admins'] }),
      isForbidden: true,
    },
    { answer: await api.post(`${core}/apikeys`, { username: 'admin' }), isForbidden: true },
    { answer: await api.put(`${core}/users/admin/password`, { username: 'admin', password: 'x' }), isForbidden: true },
    { answer: await api.get('/api/mon/v1/ledger?limit=100'), isForbidden: true },
    { answer: await api.get('/api/mon/v1/sessions'), isForbidden: true },
  ];
};

/** Runs a command on the backend by a handler. */
const runCommand: Attack = async (target, n) => {
  const { api, random, runsCommands } = target;
  const all = commands(target);
  const command = `cat > /dev/null; { ${all[random.below(all.length)] ?? 'true'}; } 2>&1; exit 1`;
  const name = `h-${n % 20}`;
  const handler = { metadata: metadata(name), type: 'pipe', command, timeout: 1 };
  const put = await api.put(`${home(OWN)}/handlers/${name}`, handler);
  const event = resultOf('e', `c-${n % 20}`, { status: 1 + (n % 2), handlers: [name] });
  const sent = await api.put(`${home(OWN)}/events/e/c-${n % 20}`, event);
  const outcomes = await api.get(`/api/mon/v1/namespaces/${OWN}/events/e/c-${n % 20}/notifications`);
  return [{ answer: put, isForbidden: !runsCommands }, { answer: sent }, { answer: outcomes }];
};

/** Runs JavaScript by a filter, a mutator and the expressions of a check. */
const runScript: Attack = async ({ api, random }, n) => {
  const script = SCRIPTS[random.below(SCRIPTS.length)] ?? 'true';
  const name = `s-${n % 20}`;
  const filter = { metadata: metadata(name), action: 'allow', expressions: [script] };
  const check = {
    metadata: metadata(name),
    command: 'true',
    interval: 1,
    proxy_entity_name: '',
    proxy_requests: { entity_attributes: [script] },
  };
  const handler = { metadata: metadata(name), type: 'set', handlers: [name], filters: [name] };
  return [
    { answer: await api.put(`${home(OWN)}/filters/${name}`, filter) },
    {
      answer: await api.put(`${home(OWN)}/mutators/${name}`, {
        metadata: metadata(name),
        type: 'javascript',
        eval: script,
      }),
    },
    { answer: await api.put(`${home(OWN)}/checks/${name}`, check) },
    { answer: await api.put(`${home(OWN)}/handlers/${name}`, handler) },
    {
      answer: await api.put(
        `${home(OWN)}/events/e/${name}`,
        resultOf('e', name, { status: 1 + (n % 2), handlers: [name] }),
      ),
    },
    { answer: await api.get(`/api/mon/v1/namespaces/${OWN}/events/e/${name}/notifications`) },
  ];
};

/** Makes the backend fetch from places of its own machine. */
const fetchAsset: Attack = async ({ api, apiPort, stateDir, random }, n) => {
  const urls = [
    `http://127.0.0.1:${apiPort}/metrics`,
    `file://${stateDir}/store/data.mdb`,
    'http://169.254.169.254/latest/meta-data/',
    `http://[::1]:${apiPort}/health`,
  ];
  const name = `a-${n % 20}`;
  const asset = { metadata: metadata(name), url: urls[random.below(urls.length)], sha512: 'a'.repeat(128) };
  const filter = { metadata: metadata(name), action: 'allow', expressions: ['true'], runtime_assets: [name] };
  return [
    { answer: await api.put(`${home(OWN)}/assets/${name}`, asset) },
    { answer: await api.put(`${home(OWN)}/filters/${name}`, filter) },
  ];
};

/** Sends names and bodies that parsers break on. */
const sendOddities: Attack = async ({ api, random }, n) => {
  const name = HOSTILE_NAMES[random.below(HOSTILE_NAMES.length)] ?? 'x';
  const nested = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  const polluting = '{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}}';
  return [
    { answer: await api.get(`${home(OWN)}/checks/${name}`) },
    {
      answer: await api.request({ method: 'PUT', path: `${home(OWN)}/checks/odd-${n}`, body: nested }),
      isForbidden: true,
    },
    { answer: await api.patch(`${home(OWN)}/checks/odd-${n}`, polluting), isForbidden: true },
    { answer: await api.get(`${home(OWN)}/events?fieldSelector=${encodeURIComponent('('.repeat(5_000))}`) },
    { answer: await api.get(`${home(OWN)}/events?limit=-1&continue=${encodeURIComponent(`${FOREIGN}/`)}`) },
  ];
};

/** Fills its namespace with large results of ever new checks. */
const fill: Attack = async ({ api }, n) => {
  const event = resultOf('hoard', `c-${n}`, { status: n % 3, output: LARGE });
  return [{ answer: await api.put(`${home(OWN)}/events/hoard/c-${n}`, event) }];
};

export const ATTACKS: Readonly<Record<string, Attack>> = {
  writeElsewhere,
  smuggle,
  escalate,
  runCommand,
  runScript,
  fetchAsset,
  sendOddities,
  fill,
};
