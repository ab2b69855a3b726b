import { randomUUID } from 'node:crypto';
import type { WebSocket } from 'ws';
import type { AgentPort, AgentSession } from '../actors/agent-port.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { EntityConfig } from '../resources/entity.ts';
import { ExpectedError, StoreUnavailable } from '../resources/errors.ts';
import type { Codec } from '../wire/codec.ts';
import { decodeFrame, encodeFrame, eventNumberOf, ProtocolError } from '../wire/frame.ts';
import type { AgentHello } from '../wire/handshake.ts';
import { pushedConfig, unknownEntity } from './entity-config.ts';
import { OutgoingQueue } from './outgoing-queue.ts';

/** While nothing is read the agent hears a pong so often, or it would leave. */
const PAUSED_PONG_INTERVAL_MS = 10_000;

export interface SessionPorts {
  agents: AgentPort;
  clock: Clock;
  log: Log;
  /** Whether senders must pause. */
  mustPause(): boolean;
  subscribe(session: Session, subscriptions: readonly string[]): void;
  ended(session: Session): void;
  writeTimeoutMs: number;
}

/** One open connection of an agent: frames in and out. What it means is decided by the actors. */
export class Session implements AgentSession {
  readonly id = randomUUID();
  readonly namespace: string;
  readonly agentName: string;
  readonly queueId: string | undefined;
  /** For all messages of the connection, both ways. */
  readonly codec: Codec;
  /** Frames of this session that were refused. */
  refused = 0;
  readonly #ports: SessionPorts;
  readonly #socket: WebSocket;
  readonly #outgoing: OutgoingQueue;
  readonly #log: Log;
  #heardAtMs: number;
  #pausedAtMs: number | undefined;
  #state = 'registered';
  #isBroken = false;

  constructor(socket: WebSocket, hello: AgentHello, codec: Codec, ports: SessionPorts) {
    this.codec = codec;
    this.namespace = hello.namespace;
    this.agentName = hello.agentName;
    this.queueId = hello.queueId;
    this.#socket = socket;
    this.#ports = ports;
    this.#log = ports.log.child({ session: this.id, namespace: this.namespace, agent: this.agentName });
    this.#heardAtMs = ports.clock.monotonicMs();
    this.#outgoing = new OutgoingQueue({
      clock: ports.clock,
      writeTimeoutMs: ports.writeTimeoutMs,
      send: (frame, sent) => {
        socket.send(frame, { binary: true }, sent);
      },
      stuck: () => {
        ports.agents.tell(this.id, { type: 'write.stuck', atMs: ports.clock.nowMs() });
      },
    });
  }

  /** Registers with the actors, sends the first frame and begins to read. `stored` is undefined for an agent that is not known. */
  open(stored: EntityConfig | undefined): void {
    const { agents } = this.#ports;
    this.#socket.on('message', (message: Buffer) => {
      this.#receive(message);
    });
    const heard = () => {
      this.#heard();
    };
    this.#socket.on('ping', heard).on('pong', heard);
    this.#socket.on('error', (err) => {
      this.#log.debug({ err }, 'socket failed');
    });
    this.#socket.on('close', (code) => {
      this.#ports.ended(this);
      this.#log.info({ code }, 'agent disconnected');
      agents.tell(this.id, { type: 'socket.closed', code });
    });
    agents.open(this);
    this.#log.info({}, 'agent connected');
    if (stored === undefined) this.#send('entity_config', this.codec.encodeEntityConfig(unknownEntity(this.namespace)));
    else this.configure(stored);
    if (this.#ports.mustPause()) this.pause();
  }

  /** The agent's entity has this configuration now. */
  configure(config: EntityConfig): void {
    this.#ports.subscribe(this, [...(config.subscriptions ?? []), `entity:${this.agentName}`]);
    this.#send('entity_config', this.codec.encodeEntityConfig(pushedConfig(config)));
  }

  /** `frame` is a whole `check_request`, shared by all sessions that get it. */
  requestCheck(frame: Buffer): void {
    this.#outgoing.push(frame, true);
  }

  #receive(message: Buffer): void {
    // After a lost event nothing more may be decided: it would pass the lost one, which the agent sends again.
    if (this.#isBroken) return;
    this.#heard();
    let number: number | undefined;
    try {
      const { type, payload } = decodeFrame(message);
      const n = eventNumberOf(type);
      if (type === 'keepalive') {
        this.#ports.agents.receiveKeepalive(this, this.codec.decodeEvent(payload));
      } else if (n !== null && (n === undefined || this.queueId !== undefined)) {
        number = n;
        const { codec } = this;
        this.#ports.agents.receiveEvent(this, {
          event: codec.decodeEvent(payload),
          n,
          encoded: codec.protobufOf(payload),
        });
      } else {
        this.#refuse(new Error(`unknown message type: ${type}`));
      }
    } catch (error) {
      this.#failed(error, number);
    }
    if (this.#ports.mustPause()) this.pause();
  }

  /** What is wrong with a frame ends the frame; what is wrong with us ends the session, so that the agent sends it again. */
  #failed(error: unknown, number: number | undefined): void {
    const { agents } = this.#ports;
    if (error instanceof ProtocolError) {
      this.#refuse(error);
      agents.tell(this.id, { type: 'protocol.violated' });
    } else if (error instanceof StoreUnavailable) {
      this.lost(error);
    } else if (error instanceof ExpectedError) {
      this.#refuse(error);
      if (number !== undefined) agents.acknowledgeRefused(this, number);
    } else {
      this.#log.error({ err: error }, 'message could not be decided');
      if (number !== undefined) this.#break('internal error');
    }
  }

  #break(reason: string): void {
    this.#isBroken = true;
    // A paused socket would not read the peer's close frame.
    this.resume();
    this.close(1011, reason);
  }

  #refuse(err: Error): void {
    this.refused += 1;
    this.#log.warn({ err, refused: this.refused }, 'message refused');
  }

  #heard(): void {
    this.#heardAtMs = this.#ports.clock.monotonicMs();
    if (this.#state !== 'warning') return;
    this.#ports.agents.tell(this.id, { type: 'frame.received', atMs: this.#ports.clock.nowMs() });
  }

  #send(type: string, payload: string | Buffer): void {
    this.#outgoing.push(encodeFrame(type, payload), false);
  }

  /** Stops reading; the silence that follows is ours, not the agent's. */
  pause(): void {
    if (this.#pausedAtMs !== undefined || this.#socket.readyState !== this.#socket.OPEN) return;
    this.#pausedAtMs = this.#ports.clock.monotonicMs();
    this.#socket.pause();
    this.#pongWhilePaused();
  }

  resume(): void {
    if (this.#pausedAtMs === undefined) return;
    this.#heardAtMs += this.#ports.clock.monotonicMs() - this.#pausedAtMs;
    this.#pausedAtMs = undefined;
    this.#socket.resume();
  }

  #pongWhilePaused(): void {
    this.#ports.clock.after(PAUSED_PONG_INTERVAL_MS, () => {
      if (this.#pausedAtMs === undefined || this.#socket.readyState !== this.#socket.OPEN) return;
      this.#socket.pong();
      this.#pongWhilePaused();
    });
  }

  silentMs(): number {
    const untilMs = this.#pausedAtMs ?? this.#ports.clock.monotonicMs();
    return Math.max(0, untilMs - this.#heardAtMs);
  }

  entered(state: string): void {
    if (state === this.#state) return;
    if (state === 'warning') this.#log.warn({}, 'agent is silent');
    this.#state = state;
  }

  acknowledged(n: number): void {
    this.#send('ack', String(n));
  }

  lost(err: Error): void {
    this.#log.warn({ err }, 'events of the session were lost');
    this.#break('the store failed');
    this.#ports.agents.tell(this.id, { type: 'store.failed', atMs: this.#ports.clock.nowMs() });
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
