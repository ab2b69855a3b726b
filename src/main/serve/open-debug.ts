import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { BackendConfig } from '../../config/backend.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Closers } from './closers.ts';
import { boundAddress, close, listenOn } from './listen.ts';
import { Profiler, ProfilerBusy } from './profiler.ts';

const SNAPSHOT = 'heap.heapsnapshot';
const DEFAULT_S = 30;
const MAX_S = 300;
/** A page of another origin names its own host, also after it has bound that name to this address. */
const LOCAL_HOSTS = new Set(['127.0.0.1', 'localhost']);

const USAGE = `GET /debug/cpu-profile?seconds=${DEFAULT_S}
GET /debug/heap-profile?seconds=${DEFAULT_S}
POST /debug/heap-snapshot
`;

interface Answer {
  status: number;
  body: string;
  type?: string;
}

const refusal = (status: number, text: string): Answer => ({ status, body: `${text}\n` });

/** Serves profiles of the process when `--debug` asks for them. Returns the server, or undefined. */
export async function openDebug(
  { debug, stateDir }: Pick<BackendConfig, 'debug' | 'stateDir'>,
  { clock, log }: { clock: Clock; log: Log },
  closers: Closers,
): Promise<Server | undefined> {
  if (debug === undefined) return undefined;
  const profiler = new Profiler(clock);
  const server = createServer((request, response) => {
    const closed = new AbortController();
    response.once('close', () => {
      closed.abort();
    });
    answerTo(request, profiler, join(stateDir, SNAPSHOT), closed.signal).then(
      (answer) => {
        send(response, answer);
      },
      (err: unknown) => {
        log.error({ err, path: request.url }, 'could not profile the process');
        send(response, refusal(500, 'could not profile the process, the log has the reason'));
      },
    );
  });
  await listenOn(server, { ...debug, flags: ['debug'] });
  closers.add(async () => {
    const ended = close(server);
    server.closeAllConnections();
    await ended;
  });
  log.info({ address: boundAddress(server).text }, 'profiles are served');
  return server;
}

async function answerTo(
  request: IncomingMessage,
  profiler: Profiler,
  file: string,
  signal: AbortSignal,
): Promise<Answer> {
  const { host = '', origin } = request.headers;
  if (!LOCAL_HOSTS.has(host.replace(/:\d+$/, '')) || origin !== undefined) {
    return refusal(403, 'only programs of this machine may profile the backend');
  }
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const seconds = Number(searchParams.get('seconds') ?? DEFAULT_S);
  try {
    switch (`${request.method} ${pathname}`) {
      case 'GET /debug/cpu-profile':
      case 'GET /debug/heap-profile': {
        if (!(seconds > 0 && seconds <= MAX_S)) return refusal(400, `seconds must be above 0 and at most ${MAX_S}`);
        const kind = pathname === '/debug/cpu-profile' ? 'cpu' : 'heap';
        const body = await profiler.record(kind, seconds * 1_000, signal);
        return { status: 200, body, type: 'application/json' };
      }
      case 'POST /debug/heap-snapshot':
        await profiler.snapshot(file);
        return { status: 200, body: `${file}\n` };
      default:
        return refusal(404, USAGE.trimEnd());
    }
  } catch (error) {
    if (error instanceof ProfilerBusy) return refusal(409, error.message);
    throw error;
  }
}

function send(response: ServerResponse, { status, body, type = 'text/plain; charset=utf-8' }: Answer): void {
  const headers = { 'Content-Type': type, 'X-Content-Type-Options': 'nosniff', Connection: 'close' };
  response.writeHead(status, headers).end(body);
}
