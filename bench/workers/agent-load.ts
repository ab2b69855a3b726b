import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { encodeKeepalive } from '../support/agent-events.ts';
import { agentSocket } from '../support/agent-socket.ts';
import { type Encoding, EventFrame, FIRST_NUMBER } from '../support/event-frame.ts';

export interface AgentLoad {
  port: number;
  encoding: Encoding;
  sessions: number;
  checksPerSession: number;
  /** How long to measure: a duration, or a number of events where compiling the program must not count. */
  seconds: number | undefined;
  events?: number | undefined;
  /** Unacknowledged events per session; fewer than checks, as a frame is patched before it is sent again. */
  window: number;
}

export interface AgentLoadResult {
  perSecond: number;
  events: number;
}

const load = JSON.parse(process.argv[2] ?? '{}') as AgentLoad;
/** Half of all status changes: each problem ends with the next result. */
const PROBLEM_SHARE = 0.005;
const ACK = Buffer.from('ack\n');
const POLL_MS = 20;

/** The checks of a session in random order, the same in each round. */
function shuffledFrames(name: string): EventFrame[] {
  const frames = Array.from(
    { length: load.checksPerSession },
    (_, check) => new EventFrame(name, `check-${check}`, load.encoding),
  );
  return frames
    .map((frame) => ({ frame, place: Math.random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ frame }) => frame);
}

/** One agent: it keeps the window of unacknowledged events full. */
class Session {
  readonly #socket: WebSocket;
  readonly #frames: EventFrame[];
  #sent = 0;
  #acknowledged = 0;

  constructor(socket: WebSocket, name: string) {
    this.#socket = socket;
    this.#frames = shuffledFrames(name);
  }

  /** Sends events and calls `progressed` with the number of newly acknowledged ones. */
  start(progressed: (events: number) => void): void {
    this.#socket.on('message', (message: Buffer) => {
      if (!message.subarray(0, ACK.length).equals(ACK)) return;
      const acknowledged = Number(message.toString('latin1', ACK.length)) - FIRST_NUMBER;
      progressed(acknowledged - this.#acknowledged);
      this.#acknowledged = acknowledged;
      this.#fillWindow();
    });
    this.#fillWindow();
  }

  #fillWindow(): void {
    const executed = Math.floor(Date.now() / 1_000);
    while (this.#sent - this.#acknowledged < load.window) {
      const frame = this.#frames[this.#sent % this.#frames.length];
      if (frame === undefined) throw new Error('a session must have checks');
      this.#sent += 1;
      frame.patch(FIRST_NUMBER + this.#sent, Math.random() < PROBLEM_SHARE ? 1 : 0, executed);
      this.#socket.send(frame.bytes, { binary: true });
    }
  }
}

async function connect(index: number): Promise<Session> {
  const name = `agent-${index}`;
  const socket = agentSocket({ port: load.port, name, encoding: load.encoding, numbersEvents: true });
  await once(socket, 'open');
  socket.send(encodeKeepalive(name));
  socket.on('close', (code) => {
    if (!isMeasured) throw new Error(`${name} was closed with ${code}`);
  });
  return new Session(socket, name);
}

/** The backend stops after the measurement, perhaps before this process has exited. */
let isMeasured = false;
const sessions: Session[] = [];
for (let index = 0; index < load.sessions; index += 1) sessions.push(await connect(index));
let acknowledged = 0;
for (const session of sessions) {
  session.start((events) => {
    acknowledged += events;
  });
}

const acknowledgedUpTo = async (events: number): Promise<void> => {
  while (acknowledged < events) await delay(POLL_MS);
};

/** The first round creates all keys and is not measured. */
const allKeys = load.sessions * load.checksPerSession;
await acknowledgedUpTo(load.events === undefined ? allKeys : allKeys + load.events / 2);
process.send?.('warm');
const from = acknowledged;
const startedAt = performance.now();
if (load.events === undefined) await delay((load.seconds ?? 0) * 1_000);
else await acknowledgedUpTo(from + load.events);
const events = acknowledged - from;
const result: AgentLoadResult = { events, perSecond: events / ((performance.now() - startedAt) / 1_000) };
isMeasured = true;
process.send?.(result, () => process.exit(0));
