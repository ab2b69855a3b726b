import { type Static, Type } from 'typebox';
import { InvalidResource } from './errors.ts';
import { flag, optional, textList, textsOf } from './schema.ts';

const NAME = /^[\w.:|-]+$/;
/** A key of the ledger contains the name. */
const MAX_NAME_CHARACTERS = 600;
/** The maximum number of aggregates that a check joins. */
export const MAX_AGGREGATES = 100;

/** The attributes of a check that come from the first generation. They are absent where they are not set. */
export const aggregateFields = {
  aggregate: Type.Optional(
    Type.Unsafe<string | boolean | null>({
      type: ['string', 'boolean', 'null'],
      description: 'the aggregate that the results join; true: the one with the name of the check',
    }),
  ),
  aggregates: optional(textList({}, { description: 'the aggregates that the results join; replaces aggregate' })),
  handle: optional(flag({ description: 'false: no handler and no pipeline runs with the results; true when absent' })),
};

const FieldsSchema = Type.Object(aggregateFields);

export interface AggregateAttributes {
  aggregate?: string | boolean;
  aggregates?: string[];
  handle?: boolean;
}

/** Returns the attributes that are set; undefined when none is. An empty list of aggregates is set. */
export function aggregateAttributesOf({
  aggregate,
  aggregates,
  handle,
}: Static<typeof FieldsSchema>): AggregateAttributes | undefined {
  const hasAggregate = aggregate !== undefined && aggregate !== null;
  const hasAggregates = aggregates !== undefined && aggregates !== null;
  const hasHandle = handle !== undefined && handle !== null;
  if (!hasAggregate && !hasAggregates && !hasHandle) return undefined;
  return {
    ...(hasAggregate ? { aggregate } : undefined),
    ...(hasAggregates ? { aggregates: textsOf(aggregates) } : undefined),
    ...(hasHandle ? { handle } : undefined),
  };
}

export const isAggregateName = (name: string): boolean => name.length <= MAX_NAME_CHARACTERS && NAME.test(name);

/** @throws InvalidResource that names the attribute and the rule */
export function assertAggregateAttributes({ aggregate, aggregates }: AggregateAttributes): void {
  if (typeof aggregate === 'string') assertAggregateName(aggregate, 'aggregate');
  if (aggregates === undefined) return;
  if (aggregates.length > MAX_AGGREGATES) {
    throw new InvalidResource(`aggregates must have at most ${MAX_AGGREGATES} items`);
  }
  for (const name of aggregates) assertAggregateName(name, 'aggregates');
}

/** Annotations of a check for clients that do not know the attributes. The attributes of the check replace them. */
export const AGGREGATES_ANNOTATION = 'mon.io/aggregates';
export const HANDLE_ANNOTATION = 'mon.io/handle';

/** Returns the names in the annotation of a check: a list with commas. */
export const listedAggregates = (list: string): string[] =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

/** @throws InvalidResource that names the annotation of a check and the rule */
export function assertAggregateAnnotations(annotations: Readonly<Record<string, string>>): void {
  const handle = annotations[HANDLE_ANNOTATION];
  if (handle !== undefined && handle !== 'true' && handle !== 'false') {
    throw new InvalidResource(`annotation ${HANDLE_ANNOTATION} must be true or false`);
  }
  const aggregates = listedAggregates(annotations[AGGREGATES_ANNOTATION] ?? '');
  if (aggregates.length > MAX_AGGREGATES || !aggregates.every(isAggregateName)) {
    throw new InvalidResource(
      `annotation ${AGGREGATES_ANNOTATION} must be at most ${MAX_AGGREGATES} names with commas`,
    );
  }
}

function assertAggregateName(name: string, attribute: string): void {
  if (isAggregateName(name)) return;
  throw new InvalidResource(
    `${attribute} must be a name of at most ${MAX_NAME_CHARACTERS} letters, digits, "_", ".", ":", "|" and "-"`,
  );
}
