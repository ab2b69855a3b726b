import { randomUUID } from 'node:crypto';
import type { WebSocket } from 'ws';
import type { AgentSession } from '../../actors/agents/agent-session.ts';
import type { RequestReceipt } from '../../actors/core/expected-results.ts';
import type { Log } from '../../ports/log.ts';
import type { EntityConfig } from '../../resources/entity.ts';
import type { Event } from '../../resources/event.ts';
import { ringLeaseMs } from '../../rules/ring-lease.ts';
import type { Codec } from '../../wire/codec.ts';
import { encodeFrame } from '../../wire/frame.ts';
import { clockSkewS, isClockOff } from './clock-skew.ts';
import { pushedConfig, unknownEntity } from './entity-config.ts';
import { Intake } from './intake.ts';
import { MessageHandler } from './message-handler.ts';
import { OutgoingQueue } from './outgoing-queue.ts';
import { Pongs } from './pongs.ts';
import type { SessionError } from './session-counts.ts';
import type { AcceptedConnection, SessionPorts } from './session-ports.ts';

/** One open connection of an agent. It transports frames in both directions; the actors process their contents. */
export class Session implements AgentSession {
  readonly id = randomUUID();
  readonly namespace: string;
  readonly agentName: string;
  readonly queueId: string | undefined;
  readonly codec: Codec;
  readonly username: string;
  readonly address: string;
  readonly isMutualTls: boolean;
  readonly openedAtMs: number;
  lastFrameAtMs: number | undefined;
  lastKeepaliveAtMs: number | undefined;
  /** At the last keepalive, in seconds; positive when the clock of the agent is ahead. */
  clockSkewS: number | undefined;
  /** The highest event number acknowledged on this connection. */
  acknowledgedN: number | undefined;
  readonly #ports: SessionPorts;
  readonly #socket: WebSocket;
  readonly #outgoing: OutgoingQueue;
  readonly #intake: Intake;
  readonly #pongs: Pongs;
  readonly #log: Log;
  #state = 'registered';
  #isBroken = false;
  #error: SessionError | undefined;

  constructor(
    socket: WebSocket,
    { hello, username, address, codec, isMutualTls }: AcceptedConnection,
    ports: SessionPorts,
  ) {
    this.codec = codec;
    this.username = username;
    this.address = address;
    this.isMutualTls = isMutualTls;
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
    const handler = this.#createHandler();
    this.#intake = new Intake({
      ...ports,
      socket,
      pong: () => {
        this.#pongs.sendUnsolicited();
      },
      decide: (message) => {
        handler.handle(message);
      },
      dropped: (messages) => {
        this.#log.warn({ messages }, 'held messages of an agent that has disconnected were dropped');
      },
      // After a lost event nothing more is processed: it would overtake the lost one, which the agent sends again.
      isBroken: () => this.#isBroken,
    });
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
        ports.agents.notify(this.id, { type: 'write.stuck' });
      },
    });
  }

  #createHandler(): MessageHandler {
    const { agents } = this.#ports;
    return new MessageHandler(this, {
      agents,
      codec: this.codec,
      log: this.#log,
      keepaliveReceived: (keepalive) => {
        this.#keepaliveReceived(keepalive, this.#ports.clock.nowMs());
      },
      rejected: (reason) => {
        this.#reject(reason);
      },
      protocolViolated: (error) => {
        this.#reject(error.message);
        this.#countError('protocol violated');
        this.#isBroken = true;
        agents.notify(this.id, { type: 'protocol.violated' });
      },
      storeFailed: (error) => {
        this.inputsLost(error);
      },
      eventFailed: () => {
        this.#countError('internal error');
        this.#break('internal error');
      },
    });
  }

  /** Registers with the actors, sends the configuration and starts reading. `stored` is undefined for an unknown agent. */
  open(stored: EntityConfig | undefined): void {
    const { agents } = this.#ports;
    this.#socket.on('message', (message: Buffer) => {
      this.#receive(message);
    });
    this.#socket.on('ping', (body: Buffer) => {
      this.#pongs.answer(body);
      this.#controlReceived();
    });
    this.#socket.on('pong', () => {
      this.#controlReceived();
    });
    this.#socket.on('error', (err) => {
      this.#ports.counts.socketFailed('reads', err);
      // An error of `ws` is an invalid or oversized message. `ws` closes the socket itself.
      if ('code' in err && String(err.code).startsWith('WS_ERR_')) this.#reject(err.message);
      else this.#log.debug({ err }, 'socket failed');
    });
    this.#socket.on('close', (code) => {
      this.#outgoing.stop();
      this.#intake.end(() => {
        this.#ports.ended(() => {
          this.#log.info({ code }, 'agent disconnected');
          agents.notify(this.id, { type: 'socket.closed', code });
        });
      });
    });
    agents.open(this);
    this.#log.info({ address: this.address, user: this.username }, 'agent connected');
    if (stored !== undefined) this.configure(stored);
    else this.#sendConfig(unknownEntity(this.namespace));
    if (this.#ports.isFailing()) this.#intake.incoming.pause();
  }

  /** Applies and sends a new configuration of the agent's entity. */
  configure(config: EntityConfig): void {
    this.#ports.subscribe([...(config.subscriptions ?? []), `entity:${this.agentName}`]);
    this.#sendConfig(pushedConfig(config));
  }

  /** `frame` is a complete `check_request`, shared by all receiving sessions. Its receipt is marked if it is dropped. */
  requestCheck(frame: Buffer, receipt: RequestReceipt): void {
    this.#outgoing.pushRequest(frame, receipt);
  }

  #receive(message: Buffer): void {
    if (!this.#isBroken) {
      this.#markReceived();
      this.lastFrameAtMs = this.#ports.clock.nowMs();
    }
    this.#intake.receive(message);
  }

  /** Counts the first error only, which ends the session. */
  #countError(error: SessionError): void {
    if (this.#error !== undefined) return;
    this.#error = error;
    this.#ports.counts.errors[error] += 1;
  }

  #break(reason: string): void {
    this.#isBroken = true;
    this.#intake.incoming.discard();
    this.close(1011, reason);
  }

  /** Records a rejected message; logs a warning if the reason is new. */
  #reject(reason: string): void {
    this.#intake.countRejected();
    const { refusals, clock } = this.#ports;
    const isNew = refusals.record(this, reason, clock.nowMs());
    const { lastReason: error, count: refused } = refusals.of(this) ?? {};
    this.#log[isNew ? 'warn' : 'debug']({ error, refused }, 'message refused');
  }

  #keepaliveReceived({ timestamp, check }: Event, atMs: number): void {
    const wasOff = isClockOff(this.clockSkewS);
    this.lastKeepaliveAtMs = atMs;
    this.#ports.renewLease(ringLeaseMs(check?.timeout ?? 0));
    this.clockSkewS = clockSkewS(timestamp, atMs);
    if (isClockOff(this.clockSkewS) && !wasOff) {
      this.#log.warn({ clock_skew_seconds: this.clockSkewS }, 'agent clock differs from the backend clock');
    }
  }

  #controlReceived(): void {
    this.#intake.countControl();
    this.#markReceived();
  }

  #markReceived(): void {
    this.#intake.incoming.markReceived();
    // While the store is failing, the deadline reads `silentMs` instead.
    if (this.#state !== 'warning' || this.#ports.isFailing()) return;
    this.#ports.agents.notify(this.id, { type: 'frame.received' });
  }

  #sendConfig(config: EntityConfig): void {
    this.#outgoing.pushLatest('entity_config', encodeFrame('entity_config', this.codec.encodeEntityConfig(config)));
  }

  pause(): void {
    this.#intake.incoming.pause();
  }

  /** Returns false if the time is over, or senders must pause again, before all held messages are processed. */
  resume(hasTime: () => boolean): boolean {
    return this.#intake.incoming.resume(hasTime);
  }

  excuseSilence(ms: number): void {
    this.#intake.incoming.excuseSilence(ms);
  }

  silentMs(): number {
    return this.#intake.incoming.silentMs();
  }

  /** State of the connection actor. */
  get state(): string {
    return this.#state;
  }

  /** Whether reading has stopped because senders must pause. */
  get isPaused(): boolean {
    return this.#intake.incoming.isPaused;
  }

  /** Queue lengths: frames to be written, check requests among them with their bytes, and held messages. */
  get waiting(): { frames: number; requests: number; requestBytes: number; held: number } {
    const { length: frames, waitingRequests: requests, requestBytes } = this.#outgoing;
    return { frames, requests, requestBytes, held: this.#intake.incoming.held };
  }

  /** Check requests dropped because the agent did not read. */
  get droppedRequests(): number {
    return this.#outgoing.dropped;
  }

  stateChanged(state: string): void {
    if (state === this.#state) return;
    if (state === 'warning') this.#log.warn({}, 'agent is silent');
    this.#state = state;
  }

  acknowledged(n: number): void {
    this.acknowledgedN = n;
    this.#outgoing.pushLatest('ack', encodeFrame('ack', String(n)), n);
  }

  inputsLost(err: Error): void {
    this.#log.warn({ err }, 'could not store events of the agent, closing its connection');
    this.#countError('store failed');
    this.#break('the store failed');
    this.#ports.agents.notify(this.id, { type: 'store.failed' });
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
