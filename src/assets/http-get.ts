import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP, type LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import { rootCertificates } from 'node:tls';
import type { AllowedNetwork } from '../resources/ip-network.ts';
import { FetchFailed } from './asset-failed.ts';
import { mayReach, type Target, type TargetRules } from './target-policy.ts';

const CONNECT_LIMIT_MS = 10_000;
const HEADERS_LIMIT_MS = 30_000;
/** How long a server may send nothing in the middle of a body. */
const IDLE_LIMIT_MS = 30_000;

const PROXY_VARIABLES = { httpProxy: ['http_proxy', 'HTTP_PROXY'], httpsProxy: ['https_proxy', 'HTTPS_PROXY'] };

export interface GetOptions {
  headers: Readonly<Record<string, string[]>>;
  allowed: readonly AllowedNetwork[];
  isRedirect: boolean;
  /** The server that the URL of the asset itself has reached, without a proxy. */
  reached: Target | undefined;
  /** PEM of authorities that are trusted besides those of Node.js. */
  trustedCa: string | undefined;
  signal: AbortSignal;
}

export interface HttpResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: Readable;
  /** The server itself; undefined when a proxy was asked. */
  reached: Target | undefined;
  /** Ends the connection. */
  close(): Promise<void>;
}

/**
 * Sends a GET request, through the proxy of the environment if there is one for the URL. Follows no redirect. The address is
 * checked after the name is resolved and again when the connection is open, so that no change of the name leads elsewhere.
 * @throws FetchFailed for a target that is not allowed; the errors of the network
 */
export async function get(url: URL, options: GetOptions): Promise<HttpResponse> {
  const port = portOf(url);
  const rules: TargetRules = options;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const proxies = proxiesOf(process.env);
  if (isIP(host) > 0) assertMayReach({ address: host, port }, rules);
  else if (proxies !== undefined) await assertValidQueryName(host, port, rules);
  let reached: Target | undefined;
  const ca = options.trustedCa === undefined ? undefined : [...rootCertificates, options.trustedCa];
  const tls = ca === undefined ? {} : { ca };
  // Loaded when it is used: it takes 11 MB, and most agents download nothing.
  const { buildConnector, EnvHttpProxyAgent, request } = await import('undici');
  const open = buildConnector({ ...tls, timeout: CONNECT_LIMIT_MS, lookup: guardedLookup(port, rules) });
  const dispatcher = new EnvHttpProxyAgent({
    ...proxies,
    connect(connection, callback) {
      open(connection, (error, socket) => {
        if (error !== null) {
          callback(error, null);
          return;
        }
        const target = { address: socket.remoteAddress ?? '', port: socket.remotePort ?? port };
        if (mayReach(target, rules)) {
          reached = target;
          callback(null, socket);
        } else {
          socket.destroy();
          callback(refusalOf(target), null);
        }
      });
    },
    requestTls: tls,
    proxyTls: tls,
    proxyTunnel: false,
    headersTimeout: HEADERS_LIMIT_MS,
    bodyTimeout: IDLE_LIMIT_MS,
  });
  try {
    const { headers, signal } = options;
    const { statusCode, headers: received, body } = await request(url, { dispatcher, headers, signal });
    const close = async (): Promise<void> => {
      // The body reports its end as an error, which nothing waits for.
      body.on('error', () => undefined).destroy();
      await dispatcher.destroy();
    };
    return { status: statusCode, headers: received, body, reached, close };
  } catch (error) {
    await dispatcher.destroy();
    throw error;
  }
}

/** The port that a URL names, or that of its protocol. */
const portOf = ({ port, protocol }: URL): number => (port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port));

/** The proxies of the environment; undefined if it has none. `host:port` is short for `http://host:port`. */
function proxiesOf(environment: NodeJS.ProcessEnv): { httpProxy?: string; httpsProxy?: string } | undefined {
  const found = Object.entries(PROXY_VARIABLES).flatMap(([option, names]) => {
    const value = names.map((name) => environment[name]).find(Boolean);
    return value === undefined ? [] : [[option, value.includes('://') ? value : `http://${value}`]];
  });
  return found.length === 0 ? undefined : (Object.fromEntries(found) as { httpProxy?: string; httpsProxy?: string });
}

const refusalOf = ({ address, port }: Target): FetchFailed =>
  new FetchFailed(`target ${address} port ${port} is not allowed, see --assets-allowed-networks`);

function assertMayReach(target: Target, rules: TargetRules): void {
  if (!mayReach(target, rules)) throw refusalOf(target);
}

/** A proxy resolves names itself. A name that has only refused addresses here is not given to it. */
async function assertValidQueryName(host: string, port: number, rules: TargetRules): Promise<void> {
  const found = await new Promise<LookupAddress[]>((resolve) => {
    lookup(host, { all: true }, (_error, addresses) => {
      resolve(_error === null ? addresses : []);
    });
  });
  const [first] = found;
  if (first !== undefined && !found.some(({ address }) => mayReach({ address, port }, rules))) {
    throw refusalOf({ address: first.address, port });
  }
}

/** Resolves a name to the addresses that may be reached. */
function guardedLookup(port: number, rules: TargetRules): LookupFunction {
  return (host, options: LookupOptions, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      const allowed = (addresses ?? []).filter(({ address }) => mayReach({ address, port }, rules));
      const [first] = allowed;
      const [refused] = addresses ?? [];
      if (error !== null) callback(error, '');
      else if (first === undefined) callback(refusalOf({ address: refused?.address ?? host, port }), '');
      else if (options.all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}
