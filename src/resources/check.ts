import { type Static, Type } from 'typebox';
import {
  aggregateAttributesOf,
  aggregateFields,
  assertAggregateAnnotations,
  assertAggregateAttributes,
} from './aggregate-attributes.ts';
import { assertCron } from './cron-expression.ts';
import { InvalidResource } from './errors.ts';
import { assertExpressions } from './expressions.ts';
import { assertCheckLists } from './list-bounds.ts';
import { metricThresholdWithDefaults, MetricThresholdSchema } from './metric-threshold.ts';
import { assertAssetName, assertName } from './names.ts';
import { ObjectMetaSchema, objectMetaWithDefaults } from './object-meta.ts';
import {
  flag,
  listOrAbsent,
  listOrNull,
  mapOf,
  optional,
  optionalTexts,
  orAbsent,
  roundedInt64,
  text,
  textList,
  textsOf,
  textsOrNull,
  uint32,
  validator,
} from './schema.ts';
import { SecretReferenceSchema, secretReferenceWithDefaults } from './secret-reference.ts';
import {
  assertRepeatedWindows,
  assertWeeklyWindows,
  RepeatedWindowSchema,
  repeatedWindowWithDefaults,
  WeeklyWindowsSchema,
  weeklyWindowsWithDefaults,
} from './time-windows.ts';

const METRIC_FORMATS = new Set([
  'nagios_perfdata',
  'graphite_plaintext',
  'opentsdb_line',
  'influxdb_line',
  'prometheus_text',
]);
const ENV_VAR = /^[^=]+=[^]+$/;
const MAX_CRON_CHARACTERS = 1_000;
/** The maximum number of entity attributes of a check, each of which is evaluated for every entity. */
const MAX_ENTITY_ATTRIBUTES = 100;
const MAX_ENTITY_ATTRIBUTE_CHARACTERS = 10_000;

const NameValueSchema = Type.Object({ name: optional(text()), value: optional(text()) });

export const ResourceReferenceSchema = Type.Object({
  name: optional(text()),
  type: optional(text()),
  api_version: optional(text()),
});

/** The configuration of a check. The check of an event has these fields and those of its result. */
export const checkConfigFields = {
  command: optional(text()),
  handlers: optional(textList()),
  high_flap_threshold: optional(uint32('percent')),
  interval: optional(uint32('seconds')),
  low_flap_threshold: optional(uint32('percent')),
  publish: optional(flag()),
  runtime_assets: optional(textList()),
  subscriptions: optional(textList()),
  proxy_entity_name: optional(text()),
  check_hooks: optional(Type.Array(mapOf(optionalTexts()))),
  stdin: optional(flag()),
  subdue: optional(WeeklyWindowsSchema),
  cron: optional(Type.String({ maxLength: MAX_CRON_CHARACTERS, description: 'five fields; excludes interval' })),
  ttl: optional(roundedInt64('seconds without a result until an alert; 0 = none')),
  timeout: optional(uint32('seconds; 0 = none')),
  proxy_requests: optional(
    Type.Object({
      entity_attributes: optional(
        textList({ maxLength: MAX_ENTITY_ATTRIBUTE_CHARACTERS }, { maxItems: MAX_ENTITY_ATTRIBUTES }),
      ),
      splay: optional(flag()),
      splay_coverage: optional(uint32('percent')),
    }),
  ),
  round_robin: optional(flag()),
  output_metric_format: optional(text()),
  output_metric_handlers: optional(textList()),
  env_vars: optional(textList()),
  metadata: optional(ObjectMetaSchema),
  max_output_size: optional(roundedInt64('bytes; 0 = whole')),
  discard_output: optional(flag()),
  secrets: optional(Type.Array(SecretReferenceSchema)),
  output_metric_tags: optional(Type.Array(NameValueSchema)),
  pipelines: optional(Type.Array(ResourceReferenceSchema)),
  output_metric_thresholds: optional(Type.Array(MetricThresholdSchema)),
  subdues: optional(Type.Array(RepeatedWindowSchema)),
  ...aggregateFields,
};

export const CheckSchema = Type.Object(checkConfigFields, { $id: 'core/v2.CheckConfig' });

export type CheckInput = Static<typeof CheckSchema>;
export type Check = ReturnType<typeof checkWithDefaults>;

export const metricTagWithDefaults = (input: Static<typeof NameValueSchema>) => ({
  name: orAbsent(input.name),
  value: orAbsent(input.value),
});

export type ResourceReference = ReturnType<typeof referenceWithDefaults>;

export const referenceWithDefaults = (input: Static<typeof ResourceReferenceSchema>) => ({
  name: input.name ?? '',
  type: input.type ?? '',
  api_version: input.api_version ?? '',
});

/** Sets the default type of the pipeline references of a check. Those of an event keep what was sent. */
const pipelineWithDefaults = (input: Static<typeof ResourceReferenceSchema>) => ({
  name: input.name ?? '',
  type: input.type || 'Pipeline',
  api_version: input.api_version || 'core/v2',
});

export function proxyRequestsWithDefaults(input: CheckInput['proxy_requests']) {
  if (!input) return undefined;
  return {
    entity_attributes: textsOrNull(input.entity_attributes),
    splay: input.splay ?? false,
    splay_coverage: input.splay_coverage ?? 0,
  };
}

const hookListWithDefaults = (hooks: Record<string, (string | null)[] | null>) =>
  Object.fromEntries(Object.entries(hooks).map(([type, names]) => [type, textsOrNull(names)]));

export function checkWithDefaults(input: CheckInput) {
  return {
    command: orAbsent(input.command),
    handlers: textsOf(input.handlers ?? []),
    high_flap_threshold: input.high_flap_threshold ?? 0,
    interval: input.interval ?? 0,
    low_flap_threshold: input.low_flap_threshold ?? 0,
    publish: input.publish ?? false,
    runtime_assets: textsOrNull(input.runtime_assets),
    subscriptions: textsOf(input.subscriptions ?? []),
    proxy_entity_name: input.proxy_entity_name ?? '',
    check_hooks: listOrNull(input.check_hooks?.map(hookListWithDefaults)),
    stdin: input.stdin ?? false,
    subdue: input.subdue ? weeklyWindowsWithDefaults(input.subdue) : null,
    cron: orAbsent(input.cron),
    ttl: input.ttl ?? 0,
    timeout: input.timeout ?? 0,
    proxy_requests: proxyRequestsWithDefaults(input.proxy_requests),
    round_robin: input.round_robin ?? false,
    output_metric_format: input.output_metric_format ?? '',
    output_metric_handlers: textsOrNull(input.output_metric_handlers),
    env_vars: textsOrNull(input.env_vars),
    metadata: objectMetaWithDefaults(input.metadata),
    max_output_size: orAbsent(input.max_output_size),
    discard_output: orAbsent(input.discard_output),
    secrets: listOrNull(input.secrets?.map(secretReferenceWithDefaults)),
    output_metric_tags: listOrAbsent(input.output_metric_tags?.map(metricTagWithDefaults)),
    pipelines: input.pipelines?.map(pipelineWithDefaults) ?? [],
    output_metric_thresholds: listOrAbsent(input.output_metric_thresholds?.map(metricThresholdWithDefaults)),
    subdues: listOrAbsent(input.subdues?.map(repeatedWindowWithDefaults)),
    ...aggregateAttributesOf(input),
  };
}

const validateShape = validator('check', CheckSchema);

/** Validates the shape and sets defaults; does not check the rules. @throws InvalidResource */
export function parseCheckShape(value: unknown): Check {
  return checkWithDefaults(validateShape(value));
}

/** @throws InvalidResource with the rule that the check breaks */
export function assertCheck(check: Check): void {
  assertName(check.metadata.name ?? '', 'check name');
  if (check.cron !== undefined) {
    if (check.interval > 0) throw eitherIntervalOrCron();
    assertCron(check.cron);
  } else if (check.interval === 0) {
    throw new InvalidResource('check interval must be greater than 0 or a valid cron schedule must be provided');
  }
  if (check.metadata.namespace === undefined) throw new InvalidResource('namespace must be set');
  assertTtl(check);
  assertCheckLists(check);
  assertSharedRules(check);
  if (check.metadata.annotations !== undefined) assertAggregateAnnotations(check.metadata.annotations);
  assertRepeatedWindows(check.subdues ?? []);
  assertWeeklyWindows(check.subdue);
}

export const eitherIntervalOrCron = (): InvalidResource =>
  new InvalidResource('must only specify either an interval or a cron schedule');

/** @throws InvalidResource */
export function assertTtl(check: { ttl: number; interval: number }): void {
  if (check.ttl > 0 && check.ttl <= check.interval) {
    throw new InvalidResource('ttl must be greater than check interval');
  }
}

type SharedFields = Pick<
  Check,
  | 'runtime_assets'
  | 'subscriptions'
  | 'proxy_entity_name'
  | 'proxy_requests'
  | 'check_hooks'
  | 'output_metric_format'
  | 'low_flap_threshold'
  | 'high_flap_threshold'
  | 'env_vars'
  | 'aggregate'
  | 'aggregates'
>;

/** Checks the rules that apply to both a check and the check of an event. @throws InvalidResource */
export function assertSharedRules(check: SharedFields): void {
  for (const asset of check.runtime_assets ?? []) assertAssetName(asset);
  if (check.subscriptions.includes('')) throw new InvalidResource('subscriptions cannot be empty strings');
  if (check.proxy_entity_name !== '') assertName(check.proxy_entity_name, 'proxy entity name');
  assertProxyRequests(check.proxy_requests);
  for (const hooks of check.check_hooks ?? []) {
    if (Object.keys(hooks).length !== 1) throw new InvalidResource('check_hooks entries must have exactly one type');
  }
  if (check.output_metric_format !== '' && !METRIC_FORMATS.has(check.output_metric_format)) {
    throw new InvalidResource('output metric format is not valid');
  }
  assertAggregateAttributes(check);
  const { low_flap_threshold: low, high_flap_threshold: high } = check;
  if (low > 0 && high > 0 && low >= high) throw new InvalidResource('invalid flap thresholds');
  for (const variable of check.env_vars ?? []) {
    if (!ENV_VAR.test(variable)) throw new InvalidResource('environment variables must be of the form FOO=BAR');
  }
}

function assertProxyRequests(requests: Check['proxy_requests']): void {
  if (requests === undefined) return;
  if (requests.splay_coverage > 100) {
    throw new InvalidResource('proxy request splay coverage must be between 0 and 100');
  }
  if (requests.splay && requests.splay_coverage === 0) {
    throw new InvalidResource('proxy request splay coverage must be greater than 0 if splay is enabled');
  }
  assertExpressions(requests.entity_attributes ?? []);
}
