import { type Static, Type } from 'typebox';
import { InvalidResource } from './errors.ts';
import { assertExpressions } from './expressions.ts';
import { assertName } from './names.ts';
import { ObjectMetaSchema, objectMetaWithDefaults } from './object-meta.ts';
import { optional, orAbsent, text, textList, textsOrNull, validator } from './schema.ts';
import { assertWeeklyWindows, WeeklyWindowsSchema, weeklyWindowsWithDefaults } from './time-windows.ts';

export const EventFilterSchema = Type.Object(
  {
    metadata: optional(ObjectMetaSchema),
    action: optional(text('allow or deny')),
    expressions: optional(textList()),
    when: optional(WeeklyWindowsSchema),
    runtime_assets: optional(textList()),
  },
  { $id: 'core/v2.EventFilter' },
);

/** Selects the events that reach a handler: those that its expressions allow, or all but those that they deny. */
export type EventFilter = ReturnType<typeof eventFilterWithDefaults>;

export function eventFilterWithDefaults(input: Static<typeof EventFilterSchema>) {
  return {
    metadata: objectMetaWithDefaults(input.metadata),
    action: orAbsent(input.action),
    expressions: textsOrNull(input.expressions),
    when: weeklyWindowsWithDefaults(input.when) ?? undefined,
    runtime_assets: textsOrNull(input.runtime_assets),
  };
}

const validateShape = validator('event-filter', EventFilterSchema);

/** Validates the shape and sets defaults; does not check the rules. @throws InvalidResource */
export function parseEventFilterShape(value: unknown): EventFilter {
  return eventFilterWithDefaults(validateShape(value));
}

/** Does not check the names of assets. @throws InvalidResource with the rule it breaks */
export function assertEventFilter({ metadata, action, expressions, when }: EventFilter): void {
  assertName(metadata.name ?? '', 'filter name');
  if (action !== 'allow' && action !== 'deny') throw new InvalidResource(`action '${action ?? ''}' is not valid`);
  if (expressions === null) throw new InvalidResource('filter must have one or more expressions');
  assertExpressions(expressions);
  if (when !== undefined) assertWeeklyWindows(when, 'when');
  if (metadata.namespace === undefined) throw new InvalidResource('namespace must be set');
}
