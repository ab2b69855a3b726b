import type { Answer } from '../request/route.ts';
import { empty, jsonOf } from './earlier-answers.ts';

/** The differences between the two servers of the first generation. Source: spec/05 2.2 and 4. */
export interface Flavour {
  /** The name of its port in metrics. */
  readonly name: 'core' | 'dashboard';
  /** The status after a result, an aggregate or a stash was deleted. */
  readonly deleted: 202 | 204;
  /** The status after a silence was created, and after one was cleared. */
  readonly silenced: 200 | 201;
  readonly cleared: 200 | 204;
  /** The status after a check was requested. */
  readonly requested: 200 | 202;
  /** The status after a stash was created. */
  readonly stashed: 200 | 201;
  /** Whether a change is answered with a body; the deletion of a client always is. */
  readonly describesChanges: boolean;
  /** Whether a change must name its datacenter where there are several. */
  readonly requiresDatacenter: boolean;
  /** Sent with JSON. */
  readonly headersOfJson: Readonly<Record<string, string>>;
  /** Whether answers are compressed for clients that accept it, and HEAD has the type of GET. */
  readonly compresses: boolean;
}

/** The server of the data. */
export const CORE: Flavour = {
  name: 'core',
  deleted: 204,
  silenced: 201,
  cleared: 204,
  requested: 202,
  stashed: 201,
  describesChanges: true,
  requiresDatacenter: false,
  headersOfJson: {},
  compresses: false,
};

/** The server of the dashboard. */
export const DASHBOARD: Flavour = {
  name: 'dashboard',
  deleted: 202,
  silenced: 200,
  cleared: 200,
  requested: 200,
  stashed: 200,
  describesChanges: false,
  requiresDatacenter: true,
  headersOfJson: { 'Accept-Charset': 'utf-8' },
  compresses: true,
};

/** The answer after a change. */
export const changed = (
  { describesChanges }: Pick<Flavour, 'describesChanges'>,
  status: number,
  body: object,
): Answer => (describesChanges ? jsonOf(status, body) : empty(status));
