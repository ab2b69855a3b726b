import { randomUUID } from 'node:crypto';
import type { WebSocket } from 'ws';
import type { AgentPort, AgentSession } from '../actors/agents/agent-port.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { EntityConfig } from '../resources/entity.ts';
import type { Event } from '../resources/event.ts';
import { ExpectedError, StoreUnavailable } from '../resources/errors.ts';
import { ringLeaseMs } from '../rules/ring-lease.ts';
import type { Codec } from '../wire/codec.ts';
import { decodeFrame, encodeFrame, eventNumberOf, ProtocolError } from '../wire/frame.ts';
import type { AgentHello } from '../wire/handshake.ts';
import { clockSkewS, isClockOff } from './clock-skew.ts';
import { pushedConfig, unknownEntity } from './entity-config.ts';
import { FairReading } from './fair-reading.ts';
import type { FrameRefusals } from './frame-refusals.ts';
import { Incoming } from './incoming.ts';
import { OutgoingQueue } from './outgoing-queue.ts';
import { Pongs } from './pongs.ts';
import type { SessionCounts, SessionError } from './session-counts.ts';

/** Who opened a connection, from where, and what is spoken on it. */
export interface Opening {
  hello: AgentHello;
  /** The user whose password was given. */
  username: string;
  /** `host:port` */
  address: string;
  /** For all messages of the connection, both ways. */
  codec: Codec;
}

export interface SessionPorts {
  agents: AgentPort;
  refusals: FrameRefusals;
  counts: SessionCounts;
  clock: Clock;
  log: Log;
  /** Whether senders must pause. */
  mustPause(): boolean;
  /** Whether nothing can be decided, keepalives neither. */
  isFailing(): boolean;
  /** The session is to be resumed when senders may go on. */
  waits(session: Session): void;
  subscribe(session: Session, subscriptions: readonly string[]): void;
  /** Its last keepalive keeps it in the rings for so long. */
  leased(session: Session, leaseMs: number): void;
  /** `tell` is to be called when it is the session's turn to go. */
  ended(session: Session, tell: () => void): void;
  /** Calls back in a turn of its own: of those who are slowed one is read on at a time. */
  inTurn(readOn: () => void): void;
  writeTimeoutMs: number;
}

/** One open connection of an agent: frames in and out. What it means is decided by the actors. */
export class Session implements AgentSession {
  readonly id = randomUUID();
  readonly namespace: string;
  readonly agentName: string;
  readonly queueId: string | undefined;
  readonly codec: Codec;
  readonly username: string;
  readonly address: string;
  readonly openedAtMs: number;
  lastFrameAtMs: number | undefined;
  lastKeepaliveAtMs: number | undefined;
  /** At its last keepalive; positive when the agent's clock is ahead. */
  clockSkewS: number | undefined;
  /** The highest number told on this connection. */
  acknowledgedN: number | undefined;
  readonly #ports: SessionPorts;
  readonly #socket: WebSocket;
  readonly #outgoing: OutgoingQueue;
  readonly #incoming: Incoming;
  readonly #reading: FairReading;
  readonly #pongs: Pongs;
  readonly #log: Log;
  #state = 'registered';
  #isBroken = false;
  #error: SessionError | undefined;

  constructor(socket: WebSocket, { hello, username, address, codec }: Opening, ports: SessionPorts) {
    this.codec = codec;
    this.username = username;
    this.address = address;
    this.openedAtMs = ports.clock.nowMs();
    this.namespace = hello.namespace;
    this.agentName = hello.agentName;
    this.queueId = hello.queueId;
    this.#socket = socket;
    this.#ports = ports;
    this.#log = ports.log.child({ session: this.id, namespace: this.namespace, agent: this.agentName });
    this.#pongs = new Pongs((body, sent) => {
      socket.pong(body, false, sent);
    });
    this.#incoming = new Incoming({
      socket,
      clock: ports.clock,
      pong: () => {
        this.#pongs.remind();
      },
      mustPause: ports.mustPause,
      isFailing: ports.isFailing,
      decide: (message) => {
        this.#decide(message);
      },
      waits: () => {
        ports.waits(this);
      },
    });
    this.#reading = new FairReading({ ...ports, socket, isPaused: () => this.#incoming.isPaused });
    this.#outgoing = new OutgoingQueue({
      clock: ports.clock,
      writeTimeoutMs: ports.writeTimeoutMs,
      send: (frame, sent) => {
        socket.send(frame, { binary: true }, sent);
      },
      dropped: () => {
        ports.counts.droppedRequests += 1;
      },
      failed: (error) => {
        ports.counts.socketFailed('writes', error);
      },
      stuck: () => {
        this.#countError('write stuck');
        ports.agents.tell(this.id, { type: 'write.stuck' });
      },
    });
  }

  /** Registers with the actors, sends the first frame and begins to read. `stored` is undefined for an agent that is not known. */
  open(stored: EntityConfig | undefined): void {
    const { agents } = this.#ports;
    this.#socket.on('message', (message: Buffer) => {
      this.#receive(message);
    });
    this.#socket.on('ping', (body: Buffer) => {
      this.#pongs.answer(body);
      this.#heardControl();
    });
    this.#socket.on('pong', () => {
      this.#heardControl();
    });
    this.#socket.on('error', (err) => {
      this.#ports.counts.socketFailed('reads', err);
      // Of `ws` itself: what came was no message, or too large a one. The socket closes by itself.
      if ('code' in err && String(err.code).startsWith('WS_ERR_')) this.#refuse(err.message);
      else this.#log.debug({ err }, 'socket failed');
    });
    this.#socket.on('close', (code) => {
      this.#ports.ended(this, () => {
        this.#log.info({ code }, 'agent disconnected');
        agents.tell(this.id, { type: 'socket.closed', code });
      });
    });
    agents.open(this);
    this.#log.info({ address: this.address, user: this.username }, 'agent connected');
    if (stored === undefined) this.#sendConfig(unknownEntity(this.namespace));
    else this.configure(stored);
    if (this.#ports.isFailing()) this.#incoming.pause();
  }

  /** The agent's entity has this configuration now. */
  configure(config: EntityConfig): void {
    this.#ports.subscribe(this, [...(config.subscriptions ?? []), `entity:${this.agentName}`]);
    this.#sendConfig(pushedConfig(config));
  }

  /** `frame` is a whole `check_request`, shared by all sessions that get it. */
  requestCheck(frame: Buffer): void {
    this.#outgoing.pushRequest(frame);
  }

  #receive(message: Buffer): void {
    this.#reading.count();
    // After a lost event nothing more may be decided: it would pass the lost one, which the agent sends again.
    if (this.#isBroken) {
      this.#reading.waste();
      return;
    }
    this.#heard();
    const { clock } = this.#ports;
    this.lastFrameAtMs = clock.nowMs();
    const beganAtMs = clock.monotonicMs();
    this.#incoming.receive(message);
    this.#reading.took(clock.monotonicMs() - beganAtMs);
  }

  #decide(message: Buffer): void {
    let number: number | undefined;
    try {
      const { type, payload } = decodeFrame(message);
      const n = eventNumberOf(type);
      if (type === 'keepalive') {
        const keepalive = this.codec.decodeEvent(payload);
        this.#ports.agents.receiveKeepalive(this, keepalive);
        this.#keptAlive(keepalive, this.#ports.clock.nowMs());
      } else if (n !== null && (n === undefined || this.queueId !== undefined)) {
        number = n;
        const { codec } = this;
        this.#ports.agents.receiveEvent(this, {
          event: codec.decodeEvent(payload),
          n,
          encoded: codec.protobufOf(payload),
        });
      } else {
        this.#refuse(`unknown message type: ${type}`);
      }
    } catch (error) {
      this.#failed(error, number);
    }
  }

  /** What is wrong with a frame ends the frame; what is wrong with us ends the session, so that the agent sends it again. */
  #failed(error: unknown, number: number | undefined): void {
    const { agents } = this.#ports;
    if (error instanceof ProtocolError) {
      this.#refuse(error.message);
      this.#countError('protocol violated');
      this.#isBroken = true;
      agents.tell(this.id, { type: 'protocol.violated' });
    } else if (error instanceof StoreUnavailable) {
      this.lost(error);
    } else if (error instanceof ExpectedError) {
      this.#refuse(error.message);
      if (number !== undefined) agents.acknowledgeRefused(this, number);
    } else {
      this.#log.error({ err: error }, 'message could not be decided');
      if (number === undefined) return;
      this.#countError('internal error');
      this.#break('internal error');
    }
  }

  /** A session ends once, by the first of its errors. */
  #countError(error: SessionError): void {
    if (this.#error !== undefined) return;
    this.#error = error;
    this.#ports.counts.errors[error] += 1;
  }

  #break(reason: string): void {
    this.#isBroken = true;
    this.#incoming.discard();
    this.close(1011, reason);
  }

  /** Logged as a warning when the reason is another than the last time. */
  #refuse(reason: string): void {
    this.#reading.waste();
    const { refusals, clock } = this.#ports;
    const isNew = refusals.note(this, reason, clock.nowMs());
    const { lastReason: error, count: refused } = refusals.of(this) ?? {};
    this.#log[isNew ? 'warn' : 'debug']({ error, refused }, 'message refused');
  }

  #keptAlive({ timestamp, check }: Event, atMs: number): void {
    const wasOff = isClockOff(this.clockSkewS);
    this.lastKeepaliveAtMs = atMs;
    this.#ports.leased(this, ringLeaseMs(check?.timeout ?? 0));
    this.clockSkewS = clockSkewS(timestamp, atMs);
    if (isClockOff(this.clockSkewS) && !wasOff) {
      this.#log.warn({ clock_skew_seconds: this.clockSkewS }, 'clock of the agent is off');
    }
  }

  #heardControl(): void {
    this.#reading.count();
    this.#heard();
  }

  #heard(): void {
    this.#incoming.heard();
    // While nothing can be decided the silence is measured all the same, and its deadline asks for it.
    if (this.#state !== 'warning' || this.#ports.isFailing()) return;
    this.#ports.agents.tell(this.id, { type: 'frame.received' });
  }

  #sendConfig(config: EntityConfig): void {
    this.#outgoing.pushNewest('entity_config', encodeFrame('entity_config', this.codec.encodeEntityConfig(config)));
  }

  pause(): void {
    this.#incoming.pause();
  }

  /** False when senders must pause again before everything that was held is decided. */
  resume(): boolean {
    return this.#incoming.resume();
  }

  missed(ms: number): void {
    this.#incoming.missed(ms);
  }

  silentMs(): number {
    return this.#incoming.silentMs();
  }

  /** The state of the connection's actor. */
  get state(): string {
    return this.#state;
  }

  /** Whether nothing is read because senders must pause. */
  get isPaused(): boolean {
    return this.#incoming.isPaused;
  }

  /** Frames that wait to be written, the check requests among them, and messages that wait to be decided. */
  get waiting(): { frames: number; requests: number; held: number } {
    return { frames: this.#outgoing.length, requests: this.#outgoing.waitingRequests, held: this.#incoming.held };
  }

  /** Check requests that the agent did not get because it did not read. */
  get droppedRequests(): number {
    return this.#outgoing.dropped;
  }

  entered(state: string): void {
    if (state === this.#state) return;
    if (state === 'warning') this.#log.warn({}, 'agent is silent');
    this.#state = state;
  }

  acknowledged(n: number): void {
    this.acknowledgedN = n;
    this.#outgoing.pushNewest('ack', encodeFrame('ack', String(n)), n);
  }

  lost(err: Error): void {
    this.#log.warn({ err }, 'events of the session were lost');
    this.#countError('store failed');
    this.#break('the store failed');
    this.#ports.agents.tell(this.id, { type: 'store.failed' });
  }

  ping(): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping();
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }
}
