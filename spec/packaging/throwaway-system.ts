import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Whether this user may use a copy of the machine. */
export const canChroot = process.getuid?.() === 0;

export const hasTool = (name: string): boolean => spawnSync('which', [name]).status === 0;

/** Makes the tarball of npm. The test command has built `dist` before. */
export function packTarball(directory: string): void {
  execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', directory], { cwd: ROOT });
}

/** Builds a package without Node.js from the tarball in the directory. */
export function buildPackage(directory: string, name: string, version: string, format: 'deb' | 'rpm' = 'deb'): void {
  const tarball = join(directory, readdirSync(directory).find((file) => file.endsWith('.tgz')) ?? '');
  const flags = ['--format', format, '--package', name, '--version', version, '--tarball', tarball];
  const small = ['--system-node', '--compression', 'none'];
  execFileSync('node', ['packaging/build.js', ...flags, ...small, '--out', directory], { cwd: ROOT });
}

/** What the commands start ends with them. */
const NAMESPACES = ['--mount', '--pid', '--fork', '--kill-child'];

/** Makes a copy of this machine below `root`, in the directory of the packages, which is `$1`. */
export const COPY_SYSTEM = `set -e
    mkdir -p "$1/system" && mount -t tmpfs tmpfs "$1/system" && cd "$1/system" && mkdir upper work root
    mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
    mount -t proc proc root/proc
    mkdir root/packages && find "$1" -maxdepth 2 -regex '.*\\.\\(deb\\|rpm\\|tgz\\)' -exec cp -t root/packages {} +`;

/** Returns the command that runs a shell script as root in a disposable copy of this machine, with the packages in /packages. */
export function throwawayCommand(packages: string, script: string): [command: string, args: string[]] {
  const outside = `${COPY_SYSTEM}
    mount --rbind /dev root/dev
    chroot root sh -euc "$2"`;
  return ['unshare', [...NAMESPACES, 'sh', '-c', outside, 'sh', packages, script]];
}

/** Runs the script in such a copy, and returns what it prints. */
export const inThrowawaySystem = (packages: string, script: string): string =>
  outputOf(...throwawayCommand(packages, script));

/** @throws Error with all output when the command fails */
export function outputOf(command: string, args: readonly string[]): string {
  const { stdout, stderr, status } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the commands ended with ${status}:\n${stdout}\n${stderr}`);
  return stdout;
}

/** Shell functions for a system with the package of the backend: `run` as its user, and `ready`, which starts it and stops it. */
export const FUNCTIONS = `
  run() { setpriv --reuid mon --regid mon --clear-groups "$@"; }
  begin() {
    : > /tmp/log # before the loop below can read what a former start wrote
    setpriv --reuid mon --regid mon --clear-groups mon-backend start --api-listen-address 127.0.0.1:0 --agent-host 127.0.0.1 --agent-port 0 \\
      --dashboard-port 0 --legacy-api-listen-address '' "$@" 2> /tmp/log & pid=$!
    for second in $(seq 60); do grep -q 'ready to accept events' /tmp/log && break; sleep 1; done
    grep -c 'ready to accept events' /tmp/log || { cat /tmp/log >&2; return 1; }
  }
  end() { kill $pid; wait $pid && echo stopped; }
`;
