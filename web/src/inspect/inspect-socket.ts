import { MON, request, searchOf } from '../api/client.ts';
import { messageOf } from '../api/problem.ts';
import type { InspectMessage } from './messages.ts';

export const INSPECT_PATH = '/debug/inspect';
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 15_000;
/** Browsers do not report why a WebSocket was refused. */
const NOT_OPENED =
  'The backend refused the connection. It must run with --inspect, and you need the verb get on inspect; the keys of the actors must be complete.';

export interface InspectListener {
  message: (message: InspectMessage) => void;
  /** The problem of the connection; undefined when it is open. */
  problem: (text: string | undefined) => void;
}

/** Connects to the inspector's WebSocket until the returned function is called. A lost connection continues after the last message. */
export function connectInspector(
  actor: readonly string[],
  since: string | undefined,
  listener: InspectListener,
): () => void {
  let socket: WebSocket | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;
  let retryMs = FIRST_RETRY_MS;
  let last = since;

  const again = (text: string): void => {
    if (isStopped) return;
    listener.problem(text);
    timer = setTimeout(() => void open(), retryMs);
    retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
  };
  const open = async (): Promise<void> => {
    try {
      const answer = await request('POST', `${MON}/tickets`);
      const { ticket } = (await answer.json()) as { ticket: string };
      if (isStopped) return;
      const url = new URL(INSPECT_PATH + searchOf({ ticket, actor, since: last }), window.location.href);
      url.protocol = url.protocol.replace('http', 'ws');
      connect(url.href);
    } catch (error) {
      again(messageOf(error));
    }
  };
  const connect = (url: string): void => {
    const opened = new WebSocket(url);
    let isOpen = false;
    socket = opened;
    opened.onopen = () => {
      isOpen = true;
      retryMs = FIRST_RETRY_MS;
      listener.problem(undefined);
    };
    opened.onmessage = ({ data }: MessageEvent<string>) => {
      const message = JSON.parse(data) as InspectMessage;
      last = message.seq;
      listener.message(message);
    };
    opened.onclose = ({ reason }) => again(isOpen ? reason || 'The connection was lost.' : NOT_OPENED);
  };
  void open();
  return () => {
    isStopped = true;
    clearTimeout(timer);
    if (socket !== undefined) socket.onclose = null;
    socket?.close();
  };
}
