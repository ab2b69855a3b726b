import { type Kind, InvalidValue } from './flag-kinds.ts';

const MAX_PORT = 65_535;

/** A listen address. The host has no brackets; with port 0 the system chooses a port. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Removes the brackets of an IPv6 host. */
export const withoutBrackets = (host: string): string => (/^\[.*\]$/.test(host) ? host.slice(1, -1) : host);

/** Parses `host:port`, with an IPv6 host in brackets and an empty host for all addresses. */
export const addressKind: Kind<ListenAddress> = {
  placeholder: 'host:port',
  fromTexts(texts) {
    const [, host, digits] = /^(\[[0-9A-Fa-f:.%\w]*\]|[^:[\]]*):(\d{1,5})$/.exec(texts.at(-1) ?? '') ?? [];
    const port = Number(digits);
    if (host === undefined || port > MAX_PORT) {
      throw new InvalidValue(`must be host:port with an IPv6 host in brackets and a port from 0 to ${MAX_PORT}`);
    }
    return { host: host === '' ? '::' : withoutBrackets(host), port };
  },
  show: ({ host, port }) => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`),
};
