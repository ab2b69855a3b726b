import { readdirSync, readFileSync } from 'node:fs';
import { memoryOf } from '../../bench/support/process-facts.ts';

/** As /proc/net/tcp writes it: the peer has closed, and the process has not. */
const CLOSE_WAIT = '08';

/** What the system tells of a process of a test, and the signals that hold it. */
export class ObservedProcess {
  readonly #pid: number;

  constructor(pid: number) {
    this.#pid = pid;
  }

  /** Without the files that are mapped, which the system takes back when it needs them, MB. */
  get ownMemoryMb(): number {
    const { residentMb, mappedMb } = memoryOf(this.#pid);
    return residentMb - mappedMb;
  }

  /** Open files and sockets. */
  get descriptors(): number {
    return readdirSync(`/proc/${this.#pid}/fd`).length;
  }

  /** Its connections at a local port that it did not close although their peers did. */
  closeWaits(port: number): number {
    const localPort = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
    const [, ...lines] = readFileSync(`/proc/${this.#pid}/net/tcp`, 'utf8').trim().split('\n');
    return lines
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, , state]) => local?.endsWith(localPort) === true && state === CLOSE_WAIT).length;
  }

  /** It runs no more until `resume`: it neither reads nor writes, and its connections stay. */
  stop(): void {
    process.kill(this.#pid, 'SIGSTOP');
  }

  resume(): void {
    process.kill(this.#pid, 'SIGCONT');
  }
}
