import type { ConfigurationKind } from '../../actors/commands.ts';
import { assertAsset, parseAssetShape } from '../../resources/asset.ts';
import { assertEventFilter, parseEventFilterShape } from '../../resources/event-filter.ts';
import { assertHandler, parseHandlerShape } from '../../resources/handler.ts';
import { assertHook, parseHookShape } from '../../resources/hook.ts';
import { assertMutator, parseMutatorShape } from '../../resources/mutator.ts';
import { assertPipeline, parsePipelineShape } from '../../resources/pipeline.ts';
import {
  assertClusterRoleBinding,
  assertRoleBinding,
  parseClusterRoleBindingShape,
  parseRoleBindingShape,
  type RoleBinding,
} from '../../resources/role-binding.ts';
import {
  assertClusterRole,
  assertRole,
  parseClusterRoleShape,
  parseRoleShape,
  type Role,
} from '../../resources/role.ts';
import {
  type ConfigurationRoutePorts,
  configurationRoutes,
  type DescribedResource,
  type Rights,
} from '../configuration-routes.ts';
import type { Caller, Route } from '../route.ts';
import { describedCheck } from './checks.ts';

/** Every kind that is no more than its schema and its rules. */
const KINDS: { [K in ConfigurationKind]: DescribedResource<K> } = {
  checks: describedCheck,
  handlers: { parse: parseHandlerShape, assert: assertHandler },
  hooks: { parse: parseHookShape, assert: assertHook },
  filters: { parse: parseEventFilterShape, assert: assertEventFilter },
  mutators: { parse: parseMutatorShape, assert: assertMutator },
  assets: { parse: parseAssetShape, assert: assertAsset, parameter: 'asset' },
  pipelines: { parse: parsePipelineShape, assert: assertPipeline },
  roles: { parse: parseRoleShape, assert: assertRole, assertMayGive: assertHoldsRules },
  rolebindings: { parse: parseRoleBindingShape, assert: assertRoleBinding, assertMayGive: assertMayBind },
  clusterroles: { parse: parseClusterRoleShape, assert: assertClusterRole, assertMayGive: assertHoldsRules },
  clusterrolebindings: {
    parse: parseClusterRoleBindingShape,
    assert: assertClusterRoleBinding,
    assertMayGive: assertMayBind,
  },
};

function assertHoldsRules(access: Rights, caller: Caller, { rules, metadata }: Role): void {
  access.assertHolds(caller, rules, metadata.namespace);
}

function assertMayBind(access: Rights, caller: Caller, binding: RoleBinding): void {
  access.assertMayBind(caller, binding);
}

export const allConfigurationRoutes = (ports: ConfigurationRoutePorts): Route[] =>
  (Object.keys(KINDS) as ConfigurationKind[]).flatMap((kind) => configurationRoutes(kind, KINDS[kind], ports));
