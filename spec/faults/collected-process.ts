import { once } from 'node:events';
import { WebSocket } from 'ws';
import { eventually } from '../support/eventually.ts';
import { ObservedProcess } from './observed-process.ts';

/** Environment of a program whose garbage a test may have collected. */
export const COLLECTABLE = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

const LISTENING = /^Debugger listening on (ws:\S+)$/;

/** A process whose memory is looked at without its garbage: when that goes is the heap's affair. */
export class CollectedProcess {
  readonly #observed: ObservedProcess;
  readonly #logs: readonly unknown[];

  /** `logs` are the lines of its stderr; its environment has `COLLECTABLE`. */
  constructor({ pid, logs }: { pid: number; logs: readonly unknown[] }) {
    this.#observed = new ObservedProcess(pid);
    this.#logs = logs;
  }

  /** After a collection, which stops the process for as long as that takes. */
  async ownMemoryMb(): Promise<number> {
    const socket = new WebSocket(await eventually(() => this.#address()));
    try {
      await once(socket, 'open');
      socket.send(JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' }));
      await once(socket, 'message');
    } finally {
      socket.terminate();
    }
    return this.#observed.ownMemoryMb;
  }

  #address(): string {
    const lines = this.#logs.map((line) => LISTENING.exec(String(line))?.[1]);
    return lines.find((address) => address !== undefined) ?? '';
  }
}
