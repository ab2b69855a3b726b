import type { ServerOptions } from 'node:http';
import type { BackendConfig } from '../../config/backend.ts';
import type { KeyPairFiles } from '../../config/flags/tls-flags.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { readCertificates, together } from './tls-files.ts';
import { ListenerTls } from './tls-listener.ts';
import { RevocationLists } from './tls-revocation.ts';
import { type ClientAuthorities, readServerMaterial } from './tls-server-material.ts';
import type { TlsServer } from './tls-server.ts';
import { TLS_TERMS, tlsTerms } from './tls-terms.ts';

interface TlsPorts {
  clock: Clock;
  log: Log;
}

type CreateServer = (options: ServerOptions) => TlsServer;

/** The TLS of the backend. */
export interface OpenedTls {
  /** Undefined when the listener does not use TLS. */
  createApiServer: CreateServer | undefined;
  createDashboardServer: CreateServer | undefined;
  createAgentServer: CreateServer | undefined;
  /** Reads the certificates and revocation lists again. Files that cannot be used are logged and change nothing. */
  reload(): Promise<void>;
  stop(): void;
}

/** Reads all files and fetches all revocation lists. @throws ConfigError with all mistakes */
export async function openTls(
  { tls, dashboard }: Pick<BackendConfig, 'tls' | 'dashboard'>,
  { clock, log }: TlsPorts,
): Promise<OpenedTls> {
  const { pair, agentAuth, trustedCa, skipsVerification = false } = tls ?? {};
  const ofAgents = (revoked: readonly string[]) => agentAuth && { file: agentAuth.ca, revoked };
  const { trusted } = together({
    trusted: () => trustedCa && readCertificates(trustedCa),
    api: () => pair && readServerMaterial(pair, undefined, clock.nowMs()),
    dashboard: () => dashboard.pair && readServerMaterial(dashboard.pair, undefined, clock.nowMs()),
    agents: () => agentAuth && readServerMaterial(agentAuth.pair, ofAgents([]), clock.nowMs()),
  });
  const listeners: ListenerTls[] = [];
  const reloadListeners = (): void => {
    for (const listener of listeners) listener.reload();
  };
  const revocation = await RevocationLists.load(agentAuth?.crlUrls ?? [], {
    tls: { ...TLS_TERMS, ...(trusted === undefined ? {} : { ca: trusted }), rejectUnauthorized: !skipsVerification },
    clock,
    log,
    changed: reloadListeners,
  });
  const serverOf = (name: string, files: KeyPairFiles | undefined, clients?: () => ClientAuthorities | undefined) => {
    if (files === undefined) return undefined;
    const read = () => readServerMaterial(files, clients?.(), clock.nowMs());
    const listener = new ListenerTls({
      read,
      terms: tlsTerms(tls?.cipherSuites),
      clock,
      log: log.child({ listener: name }),
    });
    listeners.push(listener);
    return (options: ServerOptions) => listener.createServer(options);
  };
  const stop = (): void => {
    for (const listener of listeners) listener.stop();
    revocation.stop();
  };
  try {
    const createApiServer = serverOf('api', pair);
    return {
      createApiServer,
      createDashboardServer: serverOf('dashboard', dashboard.pair) ?? createApiServer,
      createAgentServer: serverOf('agents', agentAuth?.pair ?? pair, () => ofAgents(revocation.pem)),
      reload: async () => {
        await revocation.refresh();
        reloadListeners();
      },
      stop,
    };
  } catch (error) {
    stop();
    throw error;
  }
}
