import { IncomingMessage } from 'node:http';

/** The path of the inspector's WebSocket. */
export const INSPECT_PATH = '/debug/inspect';

/**
 * A request whose connection the server upgrades only for the inspector. HTTP allows a server to ignore the header
 * `Upgrade` (RFC 9110, 7.8), but a server of Node.js that upgrades any request treats every such request as an upgrade.
 */
export class UpgradableRequest extends IncomingMessage {
  #upgrade: unknown;

  /** Whether the connection is upgraded. Node.js sets it when it has parsed the header, and reads it before it emits the request. */
  get upgrade(): unknown {
    return this.method === 'CONNECT' || isForInspector(this) ? this.#upgrade : false;
  }

  set upgrade(upgrade: unknown) {
    // The constructor of the parent sets it before this object has the field.
    if (#upgrade in this) this.#upgrade = upgrade;
  }
}

const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? '';

const isForInspector = (request: IncomingMessage): boolean =>
  pathOf(request) === INSPECT_PATH && request.headers.upgrade?.toLowerCase() === 'websocket';
