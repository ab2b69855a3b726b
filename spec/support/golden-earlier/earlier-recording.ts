import { readGolden } from '../golden-file.ts';

/** A request of a recording. */
export interface RecordedSend {
  /** `core` is the API of the first generation, `dash` the dashboard; with `core2` a second datacenter. */
  to: string;
  method: string;
  path: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is. */
  text?: string;
  headers?: Record<string, string>;
  /** The bytes of a connection, which replace all of the above. */
  raw?: string;
  /** The pieces that are written to a socket. */
  chunks?: string[];
  gap_ms?: number;
  half_close?: boolean;
}

export interface RecordedAnswer {
  status?: unknown;
  /** `null`: the header is absent. */
  headers?: Record<string, string | null>;
  body?: unknown;
  /** The exact body. */
  text?: string;
  /** Whether no list in the body is ordered, except the history. */
  unordered?: boolean;
  /** The reference never answered. */
  never?: boolean;
  raw_first_line?: string;
}

/** A run of the handler. */
export interface HandledEvent {
  client: string;
  check: string;
  action: string;
  status: number;
  occurrences: number;
}

export interface RecordedStep {
  send?: RecordedSend;
  answer?: RecordedAnswer;
  /** The parts of the answer, or of the runs, that another answer replaces. */
  ours?: (RecordedAnswer & { handled?: unknown }) | undefined;
  why?: string;
  /** The time in which a repeated request must get the answer. */
  within_ms?: number;
  settle?: unknown;
  sleep_ms?: number;
  /** The runs of the handler since the last such step, in any order. */
  handled?: HandledEvent[];
}

/** What exists before the first step. */
export interface RecordedSetup {
  checks?: Record<string, Record<string, unknown>>;
  handlers?: string[];
  /** The configured user and password. */
  auth?: { user: string; password: string };
  /** A running agent. */
  agent?: { name: string; subscriptions: string[] };
  /** The datacenters, each with the server that is the target of its requests. */
  datacenters?: Record<string, string>;
}

export interface EarlierRecording {
  file: string;
  title: string;
  setup: RecordedSetup;
  steps: RecordedStep[];
}

const OF_ERRORS = new Set(['X-Content-Type-Options', 'WWW-Authenticate', 'Accept-Charset']);

/** Reads a recording in `spec/golden/earlier`, in which the product has its own name. */
export function readEarlierRecording(file: string): EarlierRecording {
  const text = readGolden(`earlier/${file}`).replaceAll('sensu-api', 'mon-api');
  return { ...(JSON.parse(text) as Omit<EarlierRecording, 'file'>), file };
}

/** Returns the answer that is expected of this backend. A replaced body has its own type. */
export function expectedAnswer({ answer = {}, ours }: RecordedStep): RecordedAnswer {
  const { handled: _, ...replaced } = ours ?? {};
  const { 'Content-Type': type, ...headers } = answer.headers ?? {};
  const hasOwnBody = 'body' in replaced || 'text' in replaced || 'status' in replaced;
  const { body, text, ...others } = answer;
  return {
    ...(hasOwnBody
      ? others
      : { ...others, ...(body === undefined ? {} : { body }), ...(text === undefined ? {} : { text }) }),
    ...replaced,
    headers: {
      ...(hasOwnBody ? withoutErrorHeaders(headers) : headers),
      ...(hasOwnBody || type === undefined ? {} : { 'Content-Type': type }),
      ...replaced.headers,
    },
  };
}

/** The headers of errors go with them. */
const withoutErrorHeaders = (headers: Record<string, string | null>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_ERRORS.has(name)));
