import type { AgentPort } from '../../actors/agents/agent-port.ts';
import type { AgentSession } from '../../actors/agents/agent-session.ts';
import type { Log } from '../../ports/log.ts';
import { ExpectedError, StoreUnavailable } from '../../resources/errors.ts';
import type { Event } from '../../resources/event.ts';
import type { Codec } from '../../wire/codec.ts';
import { LastEntity } from '../../wire/last-entity.ts';
import { decodeFrame, eventNumberOf, ProtocolError, STOP_TYPE } from '../../wire/frame.ts';

export interface MessageHandlerPorts {
  agents: Pick<AgentPort, 'receiveKeepalive' | 'receiveEvent' | 'receiveStop' | 'acknowledgeRefused'>;
  /** For all messages of the connection. */
  codec: Codec;
  log: Log;
  /** The actors have accepted a keepalive. */
  keepaliveReceived(keepalive: Event): void;
  /** A message was rejected; the connection stays open. */
  rejected(reason: string): void;
  /** A message has no frame; the connection must be closed. */
  protocolViolated(error: ProtocolError): void;
  /** An event was lost; the session must end, so that the agent sends the event again. */
  storeFailed(error: StoreUnavailable): void;
  /** A numbered event met a bug; the session must end, so that the agent sends the event again. */
  eventFailed(): void;
}

/** Decodes the messages of one session and passes them to the actors. */
export class MessageHandler {
  readonly #session: AgentSession;
  readonly #ports: MessageHandlerPorts;
  readonly #lastEntity = new LastEntity();

  constructor(session: AgentSession, ports: MessageHandlerPorts) {
    this.#session = session;
    this.#ports = ports;
  }

  handle(message: Buffer): void {
    const { agents, codec } = this.#ports;
    let number: number | undefined;
    try {
      const { type, payload } = decodeFrame(message);
      const n = eventNumberOf(type);
      if (type === 'keepalive') {
        const keepalive = codec.decodeEvent(payload);
        agents.receiveKeepalive(this.#session, keepalive);
        this.#ports.keepaliveReceived(keepalive);
      } else if (n !== null && (n === undefined || this.#session.queueId !== undefined)) {
        number = n;
        agents.receiveEvent(this.#session, {
          event: codec.decodeEvent(payload, this.#lastEntity),
          n,
          encoded: codec.protobufOf(payload),
          bytes: payload.length,
        });
      } else if (type === STOP_TYPE && this.#session.queueId !== undefined) {
        agents.receiveStop(this.#session);
      } else {
        this.#ports.rejected(`unknown message type: ${type}`);
      }
    } catch (error) {
      this.#failed(error, number);
    }
  }

  /** An invalid message is rejected. A failure of the backend ends the session. */
  #failed(error: unknown, number: number | undefined): void {
    const { log, rejected, protocolViolated, storeFailed, eventFailed } = this.#ports;
    if (error instanceof ProtocolError) {
      protocolViolated(error);
    } else if (error instanceof StoreUnavailable) {
      storeFailed(error);
    } else if (error instanceof ExpectedError) {
      rejected(error.message);
      if (number !== undefined) this.#acknowledge(number);
    } else {
      log.error({ err: error }, 'failed to process a message');
      if (number !== undefined) eventFailed();
    }
  }

  #acknowledge(refused: number): void {
    try {
      this.#ports.agents.acknowledgeRefused(this.#session, refused);
    } catch (error) {
      this.#failed(error, error instanceof ExpectedError ? undefined : refused);
    }
  }
}
