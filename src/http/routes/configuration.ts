import {
  CONFIGURATION_KINDS,
  type ConfigurationKinds,
  type ConfigurationKindName,
} from '../../resources/configuration-kinds.ts';
import type { RoleBinding } from '../../resources/role-binding.ts';
import type { Role } from '../../resources/role.ts';
import {
  type ConfigurationRoutePorts,
  configurationRoutes,
  type DescribedResource,
  type Rights,
} from './configuration-kind.ts';
import type { Caller } from '../../auth/caller.ts';
import type { Route } from '../request/route.ts';
import { describedCheck } from './checks.ts';

/** Extensions of single kinds. */
const EXTENSIONS: { readonly [K in ConfigurationKindName]?: Partial<DescribedResource<K>> } = {
  checks: describedCheck,
  roles: { assertMayGrant: assertHoldsRules },
  rolebindings: { assertMayGrant: assertMayBind },
  clusterroles: { assertMayGrant: assertHoldsRules },
  clusterrolebindings: { assertMayGrant: assertMayBind },
};

function assertHoldsRules(access: Rights, caller: Caller, { rules, metadata }: Role): void {
  access.assertHolds(caller, rules, metadata.namespace);
}

function assertMayBind(access: Rights, caller: Caller, binding: RoleBinding): void {
  access.assertMayBind(caller, binding);
}

export interface AllConfigurationPorts extends ConfigurationRoutePorts {
  /** Defaults to the built-in kinds. */
  configurationKinds?: ConfigurationKinds | undefined;
}

export const allConfigurationRoutes = ({
  configurationKinds = CONFIGURATION_KINDS,
  ...ports
}: AllConfigurationPorts): Route[] =>
  (Object.keys(configurationKinds) as ConfigurationKindName[]).flatMap((word) =>
    configurationRoutes(word, { ...configurationKinds[word], ...EXTENSIONS[word] }, ports),
  );
