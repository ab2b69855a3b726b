import type { TSchema } from 'typebox';
import { AssetSchema, assertAsset, parseAssetShape } from './asset.ts';
import { assertCheck, CheckSchema, parseCheckShape } from './check.ts';
import { assertEventFilter, EventFilterSchema, parseEventFilterShape } from './event-filter.ts';
import { assertHandler, HandlerSchema, parseHandlerShape } from './handler.ts';
import { assertHook, HookSchema, parseHookShape } from './hook.ts';
import { assertMutator, MutatorSchema, parseMutatorShape } from './mutator.ts';
import type { ObjectMeta } from './object-meta.ts';
import { assertPipeline, parsePipelineShape, PipelineSchema } from './pipeline.ts';
import {
  assertClusterRoleBinding,
  assertRoleBinding,
  ClusterRoleBindingSchema,
  parseClusterRoleBindingShape,
  parseRoleBindingShape,
  RoleBindingSchema,
} from './role-binding.ts';
import {
  assertClusterRole,
  assertRole,
  ClusterRoleSchema,
  parseClusterRoleShape,
  parseRoleShape,
  RoleSchema,
} from './role.ts';
import { assertSecret, parseSecretShape, SecretSchema } from './secret.ts';

/** The fields by which a list can be filtered: `<prefix>.<name>` and `<prefix>.labels.<key>`. Source: spec/02 2.10. */
export interface SelectableFields {
  prefix: string;
  names: readonly string[];
  /** The member that contains the fields, if the resource does not contain them itself. */
  within?: 'spec';
}

/** Describes a kind whose resources are stored as they are sent. */
export interface ConfigurationKind<T extends { metadata: ObjectMeta } = { metadata: ObjectMeta }> {
  /** A namespace that contains resources of this kind cannot be deleted. */
  scope: 'namespace' | 'cluster';
  schema: TSchema;
  /** Validates the shape and sets defaults. @throws InvalidResource */
  parse(body: object): T;
  /** @throws InvalidResource with the rule it breaks */
  assert(resource: T): void;
  selectable: SelectableFields;
  /** The path parameter of the name, for kinds whose names follow other rules. */
  parameter?: 'asset';
  /** The path prefix of the API that the kind belongs to; the core API by default. */
  api?: string;
}

/** The path prefix of secrets and their providers. Their resources are wrapped: their fields are in `spec`. */
export const SECRETS_API = '/api/enterprise/secrets/v1';

const OF_NAMESPACE = ['name', 'namespace'] as const;

/** The configuration kinds by name. The name occurs in paths, in roles, in the keys of the store and in the ledger. */
export const CONFIGURATION_KINDS = {
  checks: {
    scope: 'namespace',
    schema: CheckSchema,
    parse: parseCheckShape,
    assert: assertCheck,
    selectable: {
      prefix: 'check',
      names: [...OF_NAMESPACE, 'handlers', 'publish', 'round_robin', 'runtime_assets', 'subscriptions', 'pipelines'],
    },
  },
  handlers: {
    scope: 'namespace',
    schema: HandlerSchema,
    parse: parseHandlerShape,
    assert: assertHandler,
    selectable: { prefix: 'handler', names: [...OF_NAMESPACE, 'filters', 'handlers', 'mutator', 'type'] },
  },
  hooks: {
    scope: 'namespace',
    schema: HookSchema,
    parse: parseHookShape,
    assert: assertHook,
    selectable: { prefix: 'hook', names: OF_NAMESPACE },
  },
  filters: {
    scope: 'namespace',
    schema: EventFilterSchema,
    parse: parseEventFilterShape,
    assert: assertEventFilter,
    selectable: { prefix: 'filter', names: [...OF_NAMESPACE, 'action', 'runtime_assets'] },
  },
  mutators: {
    scope: 'namespace',
    schema: MutatorSchema,
    parse: parseMutatorShape,
    assert: assertMutator,
    selectable: { prefix: 'mutator', names: [...OF_NAMESPACE, 'runtime_assets'] },
  },
  assets: {
    scope: 'namespace',
    schema: AssetSchema,
    parse: parseAssetShape,
    assert: assertAsset,
    selectable: { prefix: 'asset', names: [...OF_NAMESPACE, 'filters'] },
    parameter: 'asset',
  },
  pipelines: {
    scope: 'namespace',
    schema: PipelineSchema,
    parse: parsePipelineShape,
    assert: assertPipeline,
    selectable: { prefix: 'pipeline', names: OF_NAMESPACE },
  },
  secrets: {
    scope: 'namespace',
    schema: SecretSchema,
    parse: parseSecretShape,
    assert: assertSecret,
    selectable: { prefix: 'secret', names: [...OF_NAMESPACE, 'id', 'provider'], within: 'spec' },
    api: SECRETS_API,
  },
  roles: {
    scope: 'namespace',
    schema: RoleSchema,
    parse: parseRoleShape,
    assert: assertRole,
    selectable: { prefix: 'role', names: OF_NAMESPACE },
  },
  rolebindings: {
    scope: 'namespace',
    schema: RoleBindingSchema,
    parse: parseRoleBindingShape,
    assert: assertRoleBinding,
    selectable: { prefix: 'rolebinding', names: [...OF_NAMESPACE, 'role_ref.name', 'role_ref.type'] },
  },
  clusterroles: {
    scope: 'cluster',
    schema: ClusterRoleSchema,
    parse: parseClusterRoleShape,
    assert: assertClusterRole,
    selectable: { prefix: 'clusterrole', names: ['name'] },
  },
  clusterrolebindings: {
    scope: 'cluster',
    schema: ClusterRoleBindingSchema,
    parse: parseClusterRoleBindingShape,
    assert: assertClusterRoleBinding,
    selectable: { prefix: 'clusterrolebinding', names: ['name', 'role_ref.name', 'role_ref.type'] },
  },
} as const satisfies Readonly<Record<string, ConfigurationKind>>;

export type ConfigurationKindName = keyof typeof CONFIGURATION_KINDS;

/** The resource type of each kind. */
export type ConfigurationResources = {
  [Name in ConfigurationKindName]: ReturnType<(typeof CONFIGURATION_KINDS)[Name]['parse']>;
};

/** The kinds that a backend serves. Tests add kinds. */
export type ConfigurationKinds = {
  readonly [Name in ConfigurationKindName]: ConfigurationKind<ConfigurationResources[Name]>;
};
