import { AlreadyExists, NotFound } from '../resources/errors.ts';
import { type Silenced, silencedName, type SilenceRecord, withTimes } from '../resources/silenced.ts';
import { stateAt } from '../rules/silencing.ts';
import { entityKey } from '../store/keyspace.ts';
import { changedFields } from './changed-fields.ts';
import { assertNamespaceExists } from './resource-changes.ts';
import type { Scope } from './scope.ts';
import { currentSilence, endSilence, storeSilence } from './silences.ts';

/** @throws AlreadyExists, NotFound when the namespace does not exist, InvalidResource when it is to last too long */
export function createSilence(scope: Scope, silenced: Silenced, user: string): void {
  const { namespace = '' } = silenced.metadata;
  assertNamespaceExists(scope, namespace);
  if (currentSilence(scope, namespace, silencedName(silenced)) !== undefined) throw new AlreadyExists();
  putSilence(scope, silenced, user);
}

/** @throws NotFound when the namespace does not exist, InvalidResource when it is to last too long */
export function putSilence(scope: Scope, silenced: Silenced, user: string): void {
  const { namespace = '' } = silenced.metadata;
  const name = silencedName(silenced);
  assertNamespaceExists(scope, namespace);
  const previous = currentSilence(scope, namespace, name);
  const record = asWrittenBy(user, silenced, scope);
  storeSilence(scope, record, previous);
  const key = entityKey(namespace, name);
  if (previous === undefined) scope.reviseConfig('silenced', key, 'created', []);
  else scope.reviseConfig('silenced', key, 'updated', changedFields(previous, { ...record, state: previous.state }));
}

/** @throws NotFound */
export function deleteSilence(scope: Scope, namespace: string, name: string): void {
  const record = currentSilence(scope, namespace, name);
  if (record === undefined) throw new NotFound('not found');
  endSilence(scope, record, 'silence.deleted');
  scope.reviseConfig('silenced', entityKey(namespace, name), 'deleted', []);
}

/** Whatever the body says of its name and its author. */
function asWrittenBy(user: string, silenced: Silenced, { nowS, settings }: Scope): SilenceRecord {
  const timed = withTimes(silenced, nowS, settings.silenceLimits);
  const metadata = { ...silenced.metadata, name: silencedName(silenced), created_by: user };
  return { ...timed, metadata, creator: user, state: stateAt(timed, nowS) };
}
