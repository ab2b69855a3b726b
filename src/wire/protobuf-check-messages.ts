import type { AggregateAttributes } from '../resources/aggregate-attributes.ts';
import { type Check, metricTagWithDefaults, referenceWithDefaults } from '../resources/check.ts';
import { blankEventCheck, type EventCheck } from '../resources/event.ts';
import { type Hook, hookWithDefaults } from '../resources/hook.ts';
import { objectMetaWithDefaults } from '../resources/object-meta.ts';
import { secretReferenceWithDefaults } from '../resources/secret-reference.ts';
import { repeatedWindowWithDefaults } from '../resources/time-windows.ts';
import { requestedCheckWithDefaults } from './check-request.ts';
import {
  adaptedList,
  always,
  double,
  flag,
  int32,
  int64,
  list,
  message,
  nested,
  text,
  textMap,
  texts,
  uint32,
} from './protobuf-table.ts';

// Field numbers and types follow section 5 of spec/01. Unknown fields are skipped.

export const objectMeta = message(() => objectMetaWithDefaults(null), {
  name: text(1),
  namespace: text(2),
  labels: textMap(3),
  annotations: textMap(4),
  created_by: text(5),
});

export const reference = message(() => referenceWithDefaults({}), {
  name: text(1),
  type: text(2),
  api_version: text(3),
});
/** References without type are to pipelines. */
const checkPipeline = message(() => ({ name: '', type: 'Pipeline', api_version: 'core/v2' }), {
  name: text(1),
  type: text(2),
  api_version: text(3),
});

export const nameAndValue = message(() => ({ name: '', value: '' }), { name: text(1), value: text(2) });
const metricTag = message(() => metricTagWithDefaults({}), { name: text(1), value: text(2) });

const clockRange = message(() => ({ begin: '', end: '' }), { begin: text(1), end: text(2) });
type Days = NonNullable<Check['subdue']>['days'];
const days = message((): Days => ({}), {
  all: list(1, clockRange),
  sunday: list(2, clockRange),
  monday: list(3, clockRange),
  tuesday: list(4, clockRange),
  wednesday: list(5, clockRange),
  thursday: list(6, clockRange),
  friday: list(7, clockRange),
  saturday: list(8, clockRange),
});
const weeklyWindows = message(() => ({ days: days.blank() }), { days: always(1, days) });
const repeatedWindow = message(() => repeatedWindowWithDefaults({}), {
  begin: text(1),
  end: text(2),
  repeat: texts(3),
});

type Proxying = NonNullable<Check['proxy_requests']>;
const proxyRequests = message((): Proxying => ({ entity_attributes: null, splay: false, splay_coverage: 0 }), {
  entity_attributes: texts(1),
  splay: flag(2),
  splay_coverage: uint32(3),
});

type MetricThreshold = NonNullable<Check['output_metric_thresholds']>[number];
const thresholdRule = message(() => ({ min: '', max: '', status: 0 }), {
  min: text(1),
  max: text(2),
  status: uint32(3),
});
const metricThreshold = message((): MetricThreshold => ({ name: '', tags: null, thresholds: null, null_status: 0 }), {
  name: text(1),
  tags: list(2, nameAndValue),
  thresholds: list(3, thresholdRule),
  null_status: uint32(4),
});

const secret = message(() => secretReferenceWithDefaults({}), { name: text(1), secret: text(2) });

/** `{ "<type>": ["<hook>", …] }` as a message. */
type HookList = NonNullable<Check['check_hooks']>[number];
const hookList = message((): { hooks: string[] | null; type: string } => ({ hooks: null, type: '' }), {
  hooks: texts(1),
  type: text(2),
});

/** The fields of a check. From number 22 on, a configuration and an event number them differently. */
function checkFields(place: 'configuration' | 'event') {
  const at = (inConfiguration: number, inEvent: number) => (place === 'event' ? inEvent : inConfiguration);
  return {
    command: text(1),
    handlers: texts(3),
    high_flap_threshold: uint32(4),
    interval: uint32(5),
    low_flap_threshold: uint32(6),
    publish: flag(9),
    runtime_assets: texts(10),
    subscriptions: texts(11),
    proxy_entity_name: text(13),
    check_hooks: adaptedList(
      14,
      hookList,
      ({ type, hooks }): HookList => ({ [type]: hooks }),
      (hooks) => ({ type: Object.keys(hooks)[0] ?? '', hooks: Object.values(hooks)[0] ?? null }),
    ),
    stdin: flag(15),
    subdue: nested(16, weeklyWindows),
    cron: text(17),
    ttl: int64(18),
    timeout: uint32(19),
    proxy_requests: nested(20, proxyRequests),
    round_robin: flag(21),
    output_metric_format: text(at(22, 35)),
    output_metric_handlers: texts(at(23, 36)),
    env_vars: texts(at(24, 37)),
    metadata: always(at(26, 38), objectMeta),
    max_output_size: int64(at(27, 39)),
    discard_output: flag(at(28, 40)),
    secrets: list(at(29, 41), secret),
    output_metric_tags: list(at(30, 43), metricTag),
    scheduler: text(at(31, 44)),
    pipelines: list(at(32, 46), checkPipeline),
    output_metric_thresholds: list(at(33, 47), metricThreshold),
    subdues: list(at(34, 48), repeatedWindow),
  };
}

const hookFields = {
  metadata: always(1, objectMeta),
  command: text(2),
  timeout: uint32(3),
  stdin: flag(4),
  runtime_assets: texts(5),
};
export const hook = message(() => hookWithDefaults({}), hookFields);

type HookResult = NonNullable<EventCheck['hooks']>[number];
type WireHookResult = Omit<HookResult, keyof Hook> & { config: Hook };
const hookResult = message(
  (): WireHookResult => ({
    config: hook.blank(),
    duration: undefined,
    executed: 0,
    issued: 0,
    output: undefined,
    status: 0,
  }),
  {
    config: always(1, hook),
    duration: double(2),
    executed: int64(3),
    issued: int64(4),
    output: text(5),
    status: int32(6),
  },
);

/** The protocol has no fields for the attributes of the first generation. */
export const checkMessage = message((): Omit<EventCheck, keyof AggregateAttributes> => blankEventCheck(), {
  ...checkFields('event'),
  duration: double(22),
  executed: int64(23),
  history: list(
    24,
    message(() => ({ status: 0, executed: 0 }), { status: uint32(1), executed: int64(2) }),
  ),
  issued: int64(25),
  output: text(26),
  state: text(27),
  status: uint32(28),
  total_state_change: uint32(29),
  last_ok: int64(30),
  occurrences: int64(31),
  occurrences_watermark: int64(32),
  silenced: texts(33),
  hooks: adaptedList(
    34,
    hookResult,
    ({ config, duration, executed, issued, output, status }): HookResult =>
      Object.assign(config, { duration, executed, issued, output, status }),
    ({ metadata, command, timeout, stdin, runtime_assets, ...result }) => ({
      config: { metadata, command, timeout, stdin, runtime_assets },
      ...result,
    }),
  ),
  is_silenced: flag(42),
  processed_by: text(45),
});

export const checkConfigMessage = message(
  (): Omit<ReturnType<typeof requestedCheckWithDefaults>, keyof AggregateAttributes> => requestedCheckWithDefaults({}),
  checkFields('configuration'),
);
