/**
 * The direction of imports: a folder of `src` imports only from folders in earlier rows, and never from its own row. The rules
 * of the linter are made from these tables by `layer-rules.js`; a folder that is missing here fails `npm run check`.
 */
export const LAYERS = [
  ['resources', 'ports'],
  ['formats', 'wire', 'rules'],
  ['machines'],
  ['sandbox', 'exec', 'store'],
  ['scheduler', 'pipeline'],
  ['actors'],
  ['auth'],
  ['http', 'sessions', 'agent', 'config'],
  ['main'],
];

/** The same for the sub-folders of a folder; its own files import from all of them, and none of them imports its own files. */
export const SUB_LAYERS = {
  store: [['migrations']],
  pipeline: [['handlers']],
  actors: [
    ['time', 'core'],
    ['entities', 'schedules', 'inspection'],
    ['events'],
    ['agents'],
    ['administration'],
    ['supervision'],
  ],
  http: [['request'], ['answer'], ['openapi', 'inspector'], ['routes']],
  sessions: [['pacing'], ['connection'], ['handshake']],
  main: [
    ['process', 'tls', 'local'],
    ['init', 'log'],
    ['serve', 'metrics'],
  ],
};

/** Folders that import from less than the rows before theirs: folders, or single files. */
export const ONLY = {
  sandbox: ['resources', 'ports'],
  exec: ['ports'],
  config: ['resources'],
  agent: ['resources', 'ports', 'formats', 'wire', 'machines', 'exec', 'store/disk-queue.ts'],
};

/** Folders that import no module of Node.js. */
export const PURE = ['resources', 'formats', 'wire', 'rules', 'machines'];
