import { readGolden } from '../golden-file.ts';

/** One step. The members depend on `op`; the README of the recordings describes them. */
export interface Step {
  readonly op: string;
  readonly only?: 'ours' | 'reference';
  readonly expect?: unknown;
  readonly ours?: unknown;
  readonly unordered?: string;
  readonly [member: string]: unknown;
}

export interface BackendRole {
  /** The `Accept` lines of the 101. */
  readonly accept?: readonly string[];
  /** Sent as `entity_config` at once; null sends none. */
  readonly config?: object | null;
  readonly pong?: boolean;
  readonly refuse?: Refusal | null;
  readonly tls?: { readonly key: string; readonly cert: string; readonly ca?: string };
}

export interface Refusal {
  readonly status: number;
  readonly body: string;
}

export interface AssetRoute {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly base64?: string;
  readonly text?: string;
  readonly location?: string;
  readonly delay_ms?: number;
  /** So many bytes more are announced than sent. */
  readonly short?: number;
}

export interface Scenario {
  readonly scenario: string;
  readonly files?: Readonly<Record<string, string | { text: string; mode?: string }>>;
  readonly routes?: Readonly<Record<string, AssetRoute>>;
  readonly backends?: number;
  readonly backend?: BackendRole | readonly BackendRole[];
  readonly steps: readonly Step[];
}

/** The scenarios of a recording in `spec/golden/agent`. */
export const scenariosOf = (file: string): Scenario[] =>
  (JSON.parse(readGolden(`agent/${file}`)) as { scenarios: Scenario[] }).scenarios;
