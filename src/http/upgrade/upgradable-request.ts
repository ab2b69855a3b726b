import { IncomingMessage } from 'node:http';
import { pathOf } from '../request/request-path.ts';

/**
 * A class of requests whose connection the server upgrades only on the paths of its WebSockets. HTTP allows a server to ignore
 * the header `Upgrade` (RFC 9110, 7.8), but a server of Node.js that upgrades any request treats every such request as an
 * upgrade.
 */
export const upgradableOn = (paths: ReadonlySet<string>): typeof IncomingMessage =>
  class UpgradableRequest extends IncomingMessage {
    #upgrade: unknown;

    /** Whether the connection is upgraded. Node.js sets it when it has parsed the header, and reads it before it emits the request. */
    get upgrade(): unknown {
      // Most requests ask for no upgrade, and their path need not be looked at.
      if (this.#upgrade !== true) return false;
      return this.method === 'CONNECT' || this.#isForWebSocket();
    }

    set upgrade(upgrade: unknown) {
      // The constructor of the parent sets it before this object has the field.
      if (#upgrade in this) this.#upgrade = upgrade;
    }

    #isForWebSocket(): boolean {
      return paths.has(pathOf(this)) && this.headers.upgrade?.toLowerCase() === 'websocket';
    }
  };
