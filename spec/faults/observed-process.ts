import { readdirSync, readFileSync } from 'node:fs';
import { memoryOf } from '../../bench/support/process-stats.ts';

/** The state CLOSE_WAIT in /proc/net/tcp: the peer has closed, the process has not. */
const CLOSE_WAIT = '08';

/** Reads the memory and descriptors of a process under test, and stops and resumes it. */
export class ObservedProcess {
  readonly #pid: number;

  constructor(pid: number) {
    this.#pid = pid;
  }

  /** Resident memory in MB without mapped files, which the system can reclaim. */
  get ownMemoryMb(): number {
    const { residentMb, mappedMb } = memoryOf(this.#pid);
    return residentMb - mappedMb;
  }

  /** Number of open files and sockets. */
  get descriptors(): number {
    return readdirSync(`/proc/${this.#pid}/fd`).length;
  }

  /** Number of connections at a local port in the state CLOSE_WAIT. */
  closeWaits(port: number): number {
    const localPort = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
    const [, ...lines] = readFileSync(`/proc/${this.#pid}/net/tcp`, 'utf8').trim().split('\n');
    return lines
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, , state]) => local?.endsWith(localPort) === true && state === CLOSE_WAIT).length;
  }

  /** Stops the process until `resume`. Its connections stay open. */
  stop(): void {
    process.kill(this.#pid, 'SIGSTOP');
  }

  resume(): void {
    process.kill(this.#pid, 'SIGCONT');
  }
}
