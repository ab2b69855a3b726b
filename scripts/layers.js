/**
 * The direction of imports: a folder of `src` imports only from folders in earlier rows, never from another folder in its own
 * row. `layer-rules.js` generates the linter's rules from these tables. `npm run check` fails for a folder that is missing here.
 */
export const LAYERS = [
  ['resources', 'ports'],
  ['formats', 'wire', 'rules'],
  ['machines'],
  ['sandbox', 'exec', 'store', 'assets', 'serving'],
  ['scheduler', 'pipeline', 'explain'],
  ['actors'],
  ['auth'],
  ['http', 'sessions', 'agent', 'config'],
  ['main'],
];

/** The same for the sub-folders of a folder. The folder's own files may import from all of them, but not the reverse. */
export const SUB_LAYERS = {
  formats: [['template'], ['metrics']],
  config: [['parsing'], ['flags']],
  store: [['encoding', 'migrations', 'pages'], ['ledger'], ['records'], ['commit'], ['lmdb'], ['maintenance']],
  pipeline: [['handlers']],
  actors: [
    ['time', 'core'],
    ['ticks'],
    ['entities', 'schedules', 'aggregates', 'inspection'],
    ['events'],
    ['agents'],
    ['administration'],
    ['supervision'],
  ],
  http: [['request'], ['answer'], ['upgrade'], ['openapi', 'inspector', 'live', 'dashboard'], ['routes', 'earlier']],
  sessions: [['pacing'], ['connection'], ['handshake']],
  agent: [['queue', 'system', 'metrics'], ['connection', 'execution', 'api', 'sockets'], ['statsd']],
  main: [['process', 'tls'], ['init', 'log', 'maintenance'], ['serve', 'metrics'], ['local']],
};

/** Folders with a narrower rule: they import only from these folders and single files. */
export const ONLY = {
  sandbox: ['resources', 'ports'],
  exec: ['ports'],
  serving: [],
  config: ['resources'],
  agent: ['resources', 'ports', 'formats', 'wire', 'machines', 'exec', 'assets', 'serving', 'rules/token-bucket.ts'],
  assets: ['resources', 'ports', 'formats', 'rules'],
};

/** Folders that must not import Node.js modules. */
export const PURE = ['resources', 'formats', 'wire', 'rules', 'machines'];
