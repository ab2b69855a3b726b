import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { perSuite } from '../support/fixture.ts';
import { freePort } from '../support/free-port.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { servePackages } from './package-registry.ts';
import { canChroot, packTarball, ROOT, throwawayCommand } from './throwaway-system.ts';

const CONTEXT = join(ROOT, 'packaging/docker');

interface Image {
  /** Shell commands that do what the instructions of all stages say, in one system. */
  build: string;
  user: string;
  command: string[];
  healthCheck: string[];
}

const parseList = (list: string): string[] => JSON.parse(list) as string[];

/** Reads the instructions that the Dockerfile has. @throws Error for any other one */
function imageOf(dockerfile: string): Image {
  const build: string[] = [];
  const image = { user: 'root', entrypoint: [] as string[], command: [] as string[], healthCheck: [] as string[] };
  const lines = dockerfile
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n');
  for (const line of lines.filter((each) => each !== '')) {
    const [, instruction = '', rest = ''] = /^(\w+) (.*)$/.exec(line) ?? [];
    if (instruction === 'RUN') build.push(rest);
    else if (instruction === 'ENV') build.push(`export ${rest}`);
    else if (instruction === 'USER') image.user = rest;
    else if (instruction === 'ENTRYPOINT') image.entrypoint = parseList(rest);
    else if (instruction === 'CMD') image.command = parseList(rest);
    else if (instruction === 'HEALTHCHECK') image.healthCheck = parseList(rest.replace(/^CMD /, ''));
    else if (instruction === 'COPY' && !rest.startsWith('--from')) build.push(copyCommand(rest));
    // The stages share one system here, so that nothing is copied between them.
    else if (!['FROM', 'VOLUME', 'EXPOSE', 'COPY'].includes(instruction))
      throw new Error(`unknown instruction in the Dockerfile: ${line}`);
  }
  const { user, entrypoint, command, healthCheck } = image;
  return { build: build.join('\n'), user, command: [...entrypoint, ...command], healthCheck };
}

function copyCommand(rest: string): string {
  const [from = '', to = ''] = rest.split(' ');
  if (from.endsWith('.tgz')) return `cp /packages/${from} ${to}`;
  const path = join(CONTEXT, from);
  const mode = (statSync(path).mode & 0o777).toString(8);
  const text = readFileSync(path, 'utf8');
  return `mkdir -p $(dirname ${to})\ncat > ${to} << 'END-OF-FILE'\n${text}END-OF-FILE\nchmod ${mode} ${to}`;
}

const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(' ');

describe('the Dockerfile', function () {
  this.timeout(180_000);
  const directory = perSuite(temporaryDirectory, (made) => made.remove());
  const registry = perSuite(() => servePackages(join(directory.path, 'registry')));

  it('installs the npm tarball, and starts a healthy, initialised backend that stops at SIGTERM', async () => {
    const image = imageOf(readFileSync(join(CONTEXT, 'Dockerfile'), 'utf8'));
    expect(image.user).to.equal('mon');
    if (!canChroot) {
      console.log('skipped: the steps of the Dockerfile, which need root');
      return;
    }
    packTarball(directory.path);
    const port = await freePort();
    const script = `export npm_config_registry=${registry.url} npm_config_audit=false npm_config_fund=false
      sed -i '/^mon:/d' /etc/passwd /etc/group /etc/shadow /etc/gshadow # of an installed package
      ${image.build}
      as_user='setpriv --reuid ${image.user} --regid ${image.user} --clear-groups'
      export MON_BACKEND_API_LISTEN_ADDRESS=127.0.0.1:${port} MON_BACKEND_AGENT_HOST=127.0.0.1 MON_BACKEND_AGENT_PORT=0
      export MON_BACKEND_DASHBOARD_PORT=0 MON_BACKEND_LEGACY_API_LISTEN_ADDRESS=
      export MON_BACKEND_CLUSTER_ADMIN_USERNAME=admin MON_BACKEND_CLUSTER_ADMIN_PASSWORD=12345678
      $as_user ${quoted(image.command)} 2> /tmp/log & pid=$!
      for second in $(seq 60); do $as_user ${quoted(image.healthCheck)} && break; sleep 1; done
      $as_user ${quoted(image.healthCheck)} && echo healthy
      curl -s -o /dev/null -w '%{http_code}\\n' -u admin:12345678 http://127.0.0.1:${port}/auth
      kill $pid; wait $pid && echo stopped`;
    const { stdout } = await promisify(execFile)(...throwawayCommand(directory.path, script));
    expect(stdout.trim().split('\n').slice(-3)).to.deep.equal(['healthy', '200', 'stopped']);
  });
});
