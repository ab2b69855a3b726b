import { AlreadyExists, NotFound } from '../../resources/errors.ts';
import { type Silenced, silencedName, type SilenceRecord, withTimes } from '../../resources/silenced.ts';
import { stateAt } from '../../rules/silencing.ts';
import { entityKey } from '../../store/encoding/keyspace.ts';
import { changedFields } from '../core/changed-fields.ts';
import { assertNamespaceExists } from './resource-changes.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { currentSilence, endSilence, storeSilence } from '../events/silences.ts';

/** @throws AlreadyExists, NotFound when the namespace does not exist, InvalidResource when it exceeds the longest duration */
export function createSilence(ctx: DecisionContext, silenced: Silenced, user: string): void {
  const { namespace = '' } = silenced.metadata;
  assertNamespaceExists(ctx, namespace);
  if (currentSilence(ctx, namespace, silencedName(silenced)) !== undefined) throw new AlreadyExists();
  putSilence(ctx, silenced, user);
}

/** @throws NotFound when the namespace does not exist, InvalidResource when it exceeds the longest duration */
export function putSilence(ctx: DecisionContext, silenced: Silenced, user: string): void {
  const { namespace = '' } = silenced.metadata;
  const name = silencedName(silenced);
  assertNamespaceExists(ctx, namespace);
  const previous = currentSilence(ctx, namespace, name);
  const record = asWrittenBy(user, silenced, ctx);
  const changed = previous === undefined ? [] : changedFields(previous, { ...record, state: previous.state });
  if (previous !== undefined && changed.length === 0) return;
  storeSilence(ctx, record, previous);
  ctx.reviseConfig('silenced', entityKey(namespace, name), previous === undefined ? 'created' : 'updated', changed);
}

/** @throws NotFound */
export function deleteSilence(ctx: DecisionContext, namespace: string, name: string): void {
  const record = currentSilence(ctx, namespace, name);
  if (record === undefined) throw new NotFound('not found');
  endSilence(ctx, record, 'silence.deleted');
  ctx.reviseConfig('silenced', entityKey(namespace, name), 'deleted', []);
}

/** Sets the name, the times and the author, regardless of the body. */
function asWrittenBy(user: string, silenced: Silenced, { nowS, settings }: DecisionContext): SilenceRecord {
  const timed = withTimes(silenced, nowS, settings.silenceLimits);
  const metadata = { ...silenced.metadata, name: silencedName(silenced), created_by: user };
  return { ...timed, metadata, creator: user, state: stateAt(timed, nowS) };
}
