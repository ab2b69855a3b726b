import { computed, signal } from '@preact/signals';
import { MON, request } from '../api/client.ts';
import { isLoggedIn } from '../api/session.ts';

/** One state transition, as the live feed sends it. */
export interface Change {
  type: 'change';
  seq: number;
  atMs: number;
  kind: string;
  key: string;
  /** `namespace/agent`, for connections. */
  agent?: string;
  from: unknown;
  event: string;
  to: unknown;
}

type Message = Change | { type: 'position' | 'reset'; seq: number };

export interface FeedListener {
  /** Receives the changes of one animation frame. */
  changed(changes: readonly Change[]): void;
  /** Changes were missed: everything must be read again. */
  missed?(): void;
}

const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 8_000;
/** A connection on which the backend does not answer is abandoned after this time. */
const OPEN_WITHIN_MS = 10_000;

interface FeedState {
  isLive: boolean;
  /** When the connection was lost, Unix ms. */
  sinceMs: number;
}

const state = signal<FeedState>({ isLive: false, sinceMs: Date.now() });
/** Whether changes arrive now, and since when they do not. */
export const feedState = computed(() => state.value);
/** The number of the last change that was received. */
export const lastSeq = signal<number | undefined>(undefined);

const listeners = new Set<FeedListener>();
let socket: WebSocket | undefined;
let retryTimer: ReturnType<typeof setTimeout> | undefined;
let retryMs = FIRST_RETRY_MS;
let isStarted = false;
let waiting: Change[] = [];
let isFramed = false;

/** Receives changes until the returned function is called. */
export function listen(listener: FeedListener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Connects, and connects again whenever the connection ends. */
export function startFeed(): void {
  if (isStarted) return;
  isStarted = true;
  void connect();
}

export function stopFeed(): void {
  isStarted = false;
  clearTimeout(retryTimer);
  socket?.close();
  socket = undefined;
  lastSeq.value = undefined;
}

async function connect(): Promise<void> {
  clearTimeout(retryTimer);
  if (!isStarted || !isLoggedIn()) return;
  try {
    const answer = await request('POST', `${MON}/tickets`);
    const { ticket } = (await answer.json()) as { ticket: string };
    open(ticket);
  } catch {
    // The mark in the header says that the page is reconnecting.
    lost();
  }
}

function open(ticket: string): void {
  const since = lastSeq.value === undefined ? '' : `&since=${lastSeq.value}`;
  const scheme = location.protocol === 'https:' ? 'wss:' : 'ws:';
  const opened = new WebSocket(`${scheme}//${location.host}${MON}/live?ticket=${ticket}${since}`);
  socket = opened;
  const giveUp = setTimeout(() => opened.close(), OPEN_WITHIN_MS);
  opened.onmessage = ({ data }: MessageEvent<string>) => {
    clearTimeout(giveUp);
    receive(JSON.parse(data) as Message);
  };
  opened.onclose = () => {
    clearTimeout(giveUp);
    if (socket === opened) lost();
  };
}

function receive(message: Message): void {
  lastSeq.value = message.seq;
  if (!state.value.isLive) state.value = { isLive: true, sinceMs: Date.now() };
  retryMs = FIRST_RETRY_MS;
  if (message.type === 'reset') {
    for (const listener of listeners) listener.missed?.();
  } else if (message.type === 'change') {
    waiting.push(message);
    if (isFramed) return;
    isFramed = true;
    // A hidden page gets no frames, and catches up when it is shown.
    requestAnimationFrame(deliver);
  }
}

function deliver(): void {
  isFramed = false;
  const changes = waiting;
  waiting = [];
  for (const listener of listeners) listener.changed(changes);
}

function lost(): void {
  socket = undefined;
  if (state.value.isLive) state.value = { isLive: false, sinceMs: Date.now() };
  if (!isStarted) return;
  retryTimer = setTimeout(() => void connect(), retryMs);
  retryMs = Math.min(retryMs * 2, MAX_RETRY_MS);
}
