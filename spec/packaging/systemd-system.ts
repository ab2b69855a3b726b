import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { canChroot, COPY_SYSTEM, outputOf } from './throwaway-system.ts';

const SYSTEMD = '/lib/systemd/systemd';
const NAMESPACES = ['--cgroup', '--mount', '--pid', '--uts', '--ipc', '--net', '--fork', '--kill-child'];
/** The only devices that systemd needs. */
const DEVICES = ['null', 'zero', 'full', 'random', 'urandom', 'tty'];
const START_TIMEOUT_MS = 60_000;
const POLL_MS = 100;
/** A control group can be removed once the kernel has ended its processes. */
const REMOVE_GROUP = `for attempt in $(seq 100); do
    find "$1" -depth -type d -exec rmdir {} + 2> /dev/null && exit
    sleep 0.1
  done
  exit 1`;

/** Where the control groups of version 2 are; undefined where there are none. */
const controlGroups = (): string | undefined =>
  readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .find(([, , type]) => type === 'cgroup2')?.[1];

/** Whether this user can start systemd as the first process of a copy of the machine. */
export const canStartSystemd = canChroot && existsSync(SYSTEMD) && controlGroups() !== undefined;

/** A copy of the machine with systemd as its first process, a network of its own, and the packages installed. */
export class SystemdSystem {
  readonly #group: string;
  readonly #process: ChildProcess;

  private constructor(group: string, child: ChildProcess) {
    this.#group = group;
    this.#process = child;
  }

  /** Installs the Debian packages of the directory and waits until systemd is running. */
  static async start(packages: string): Promise<SystemdSystem> {
    const group = join(controlGroups() ?? '', `mon-test-${process.pid}`);
    mkdirSync(group);
    const inside = `${COPY_SYSTEM}
      mount -t sysfs -o ro sysfs root/sys && mount -t cgroup2 cgroup2 root/sys/fs/cgroup
      for directory in run tmp dev; do mount -t tmpfs tmpfs root/$directory; done
      chmod 1777 root/tmp
      for device in ${DEVICES.join(' ')}; do touch root/dev/$device; mount --bind /dev/$device root/dev/$device; done
      mkdir root/dev/shm root/dev/pts && ln -s /proc/self/fd root/dev/fd
      chroot root sh -c 'dpkg --force-depends -i /packages/*.deb'
      exec chroot root env -i container=test PATH="$PATH" ${SYSTEMD} --system --unit=basic.target`;
    const outside = `echo $$ > "$1/cgroup.procs" && exec unshare ${NAMESPACES.join(' ')} sh -c "$2" sh "$3"`;
    const child = spawn('sh', ['-c', outside, 'sh', group, inside, packages], { stdio: ['ignore', 'pipe', 'pipe'] });
    const system = new SystemdSystem(group, child);
    try {
      await system.#started();
    } catch (error) {
      await system.stop();
      throw error;
    }
    return system;
  }

  /** @throws Error with what was printed when systemd does not run in time */
  async #started(): Promise<void> {
    let printed = '';
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
      });
    }
    const end = performance.now() + START_TIMEOUT_MS;
    while (performance.now() < end && this.#process.exitCode === null) {
      await delay(POLL_MS);
      if (this.#firstPid() === undefined) continue;
      if (this.run('systemctl is-system-running --wait || true').trim() === 'running') return;
    }
    throw new Error(`systemd is not running:\n${printed}`);
  }

  /** Systemd moves itself into this control group when it has started. */
  #firstPid(): string | undefined {
    const processes = join(this.#group, 'init.scope/cgroup.procs');
    return existsSync(processes) ? readFileSync(processes, 'utf8').split('\n')[0] || undefined : undefined;
  }

  /** Runs shell commands as root in the system, and returns what they print. @throws Error when one of them fails */
  run(script: string): string {
    const target = ['--target', this.#firstPid() ?? '', '--mount', '--uts', '--ipc', '--net', '--pid', '--cgroup'];
    return outputOf('nsenter', [...target, '--root', '--wd', 'sh', '-euc', script]);
  }

  /** Ends all processes of the system. */
  async stop(): Promise<void> {
    const hasExited = this.#process.exitCode !== null || this.#process.signalCode !== null;
    const exit = hasExited ? undefined : once(this.#process, 'exit');
    writeFileSync(join(this.#group, 'cgroup.kill'), '1');
    await exit;
    outputOf('sh', ['-c', REMOVE_GROUP, 'sh', this.#group]);
  }
}
