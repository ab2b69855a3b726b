import { InvalidResource, NotFound } from '../../resources/errors.ts';
import { stashKey } from '../../store/encoding/keyspace.ts';
import type { Stash } from '../../store/stash-store.ts';
import { changedFields } from '../core/changed-fields.ts';
import type { DecisionContext } from '../core/decision-context.ts';
import { assertNamespaceExists } from './resource-changes.ts';

/** The maximum number of documents of a namespace; a further one is an error. Expired ones do not count. */
const MAX_STASHES = 10_000;
const KIND = 'stashes';

/** Creates a document, or replaces it. @throws NotFound when the namespace does not exist, InvalidResource when there are too many */
export function putStash(ctx: DecisionContext, namespace: string, stash: Stash): void {
  assertNamespaceExists(ctx, namespace);
  const key = stashKey(namespace, stash.path);
  const previous = ctx.get('resources', key) as Stash | undefined;
  if (previous === undefined) makeRoom(ctx, namespace);
  ctx.put('resources', key, stash);
  if (previous === undefined) ctx.reviseConfig(KIND, ledgerKey(key), 'created', []);
  else ctx.reviseConfig(KIND, ledgerKey(key), 'updated', changedFields(previous, stash));
}

/** @throws NotFound */
export function deleteStash(ctx: DecisionContext, namespace: string, path: string): void {
  const key = stashKey(namespace, path);
  if (ctx.get('resources', key) === undefined) throw new NotFound('not found');
  ctx.delete('resources', key);
  ctx.reviseConfig(KIND, ledgerKey(key), 'deleted', []);
}

/** Removes what has expired when there is no room. @throws InvalidResource */
function makeRoom(ctx: DecisionContext, namespace: string): void {
  const keys = [...ctx.decision.keys('resources', stashKey(namespace, ''))];
  if (keys.length < MAX_STASHES) return;
  const expired = keys.filter((key) => {
    const { expireAtS } = ctx.get('resources', key) as Stash;
    return expireAtS !== null && expireAtS <= ctx.nowS;
  });
  if (expired.length === 0) throw new InvalidResource(`a namespace has at most ${MAX_STASHES} stashes`);
  for (const key of expired) ctx.delete('resources', key);
}

const ledgerKey = (key: string): string => key.slice(KIND.length + 1);
