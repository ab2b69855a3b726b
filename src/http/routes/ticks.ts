import { setImmediate as nextTick } from 'node:timers/promises';
import { type Static, Type } from 'typebox';
import { InvalidResource, NotFound } from '../../resources/errors.ts';
import { isName } from '../../resources/names.ts';
import { checkOutcomes, entityOutcomes, type TickOutcomeAt } from '../../rules/entity-ticks.ts';
import { isSameResult } from '../../rules/tick-streaks.ts';
import type { ResourceStore } from '../../store/resource-store.ts';
import type { TickStore } from '../../store/tick-store.ts';
import {
  assertKnownParameters,
  limitParameter,
  TIME,
  timeParameter,
  wholeNumberParameter,
} from '../request/query-parameters.ts';
import { type Answer, param, type Route } from '../request/route.ts';

export interface TickRoutePorts {
  ticks: Pick<TickStore, 'ofCheck' | 'ofEntity'>;
  resources: Pick<ResourceStore, 'get'>;
}

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
/** The number of ticks in one slice; other requests are served between two slices. */
const TICKS_PER_SLICE = 5_000;
/** A page ends after this number of slices. */
const MAX_PAGE_SLICES = 40;

const MS = 'Unix seconds with millisecond precision';
const StreakSchema = Type.Object(
  {
    outcome: Type.Enum(['ran', 'skipped', 'lost']),
    reason: Type.Optional(Type.String({ description: 'Why the ticks were skipped or lost' })),
    detail: Type.Optional(Type.String()),
    from: Type.Number({ description: `The first tick, ${MS}` }),
    to: Type.Number({ description: `The last tick, ${MS}` }),
    every: Type.Optional(Type.Number({ description: 'Seconds between two ticks' })),
    count: Type.Optional(Type.Integer({ description: 'Number of ticks; absent if they are not counted' })),
    agents: Type.Optional(
      Type.Object({ least: Type.Integer(), most: Type.Integer() }, { description: 'Agents that were asked at a tick' }),
    ),
  },
  { $id: 'mon/v1.TickStreak' },
);
const PageSchema = Type.Object({ ticks: Type.Array(StreakSchema) }, { $id: 'mon/v1.TickPage' });
type Streak = Static<typeof StreakSchema>;

const QUERY = {
  entity: Type.String({ description: 'Only the ticks that concern this entity, with its outcomes' }),
  since: Type.String({ description: TIME }),
  until: Type.String({ description: TIME }),
  limit: Type.Integer({
    minimum: 1,
    description: `Maximum number of streaks in a page, up to ${MAX_LIMIT}; ${DEFAULT_LIMIT} by default`,
  }),
  continue: Type.Integer({ minimum: 0, description: 'Value of the header `Sensu-Continue` of the previous page' }),
};

/** Shows the outcome of each tick of a check: consecutive ticks with the same outcome are one streak. */
export function tickRoutes({ ticks, resources }: TickRoutePorts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/mon/v1/namespaces/:namespace/checks/:check/ticks',
      access: { resource: 'checks', verb: 'get', nameFrom: ['check'] },
      reads: 'nothing',
      description: {
        summary: 'Show the outcomes of the ticks of a check, also of a deleted one',
        query: QUERY,
        answers: { 200: { schema: PageSchema, headers: ['Sensu-Continue'] } },
      },
      handle: (request) => {
        const { query, isDisconnected } = request;
        const [namespace, check] = [param(request, 'namespace'), param(request, 'check')];
        const range = rangeOf(query);
        const entity = query.get('entity') ?? '';
        if (entity !== '' && !isName(entity)) throw new InvalidResource('entity must be the name of an entity');
        const ofCheck = ticks.ofCheck(namespace, check, range.sinceMs);
        if (ofCheck === undefined && resources.get('checks', namespace, check) === undefined)
          throw new NotFound(`check ${namespace}/${check} not found`);
        const outcomes =
          entity === ''
            ? checkOutcomes(ofCheck ?? [], range.sinceMs, range.untilMs)
            : entityOutcomes(
                ofCheck ?? [],
                ticks.ofEntity(namespace, check, entity, range.sinceMs),
                range.sinceMs,
                range.untilMs,
              );
        return readPage(outcomes, range.limit, isDisconnected);
      },
    },
  ];
}

function rangeOf(query: URLSearchParams): { sinceMs: number; untilMs: number; limit: number } {
  assertKnownParameters(query, Object.keys(QUERY));
  const limit = limitParameter(query, { byDefault: DEFAULT_LIMIT, max: MAX_LIMIT });
  const sinceMs = wholeNumberParameter(query, 'continue') ?? timeParameter(query, 'since') ?? 0;
  return {
    sinceMs,
    untilMs: timeParameter(query, 'until') ?? Number.MAX_SAFE_INTEGER,
    limit,
  };
}

/** Joins consecutive ticks at equal distances with the same outcome. The next page begins with the tick after this one. */
async function readPage(
  outcomes: Iterable<TickOutcomeAt>,
  limit: number,
  isDisconnected: () => boolean,
): Promise<Answer> {
  const shown: OpenStreak[] = [];
  let read = 0;
  for (const tick of outcomes) {
    const last = shown.at(-1);
    if (last === undefined || !last.add(tick)) {
      if (shown.length === limit || read > TICKS_PER_SLICE * MAX_PAGE_SLICES) return page(shown, tick.atMs);
      shown.push(new OpenStreak(tick));
    }
    read += 1;
    if (read % TICKS_PER_SLICE === 0) {
      await nextTick();
      if (isDisconnected()) break;
    }
  }
  return page(shown, undefined);
}

class OpenStreak {
  readonly #first: TickOutcomeAt;
  #last: TickOutcomeAt;
  #everyMs = 0;
  #count = 1;
  #agents: readonly [number, number] | undefined;

  constructor(first: TickOutcomeAt) {
    this.#first = first;
    this.#last = first;
    this.#agents = first.result.agents;
  }

  /** Adds a tick if it continues the streak. */
  add(tick: TickOutcomeAt): boolean {
    const distanceMs = tick.atMs - this.#last.atMs;
    if (this.#first.isWhole || tick.isWhole || !isSameResult(this.#first.result, tick.result)) return false;
    if (distanceMs <= 0 || (this.#everyMs !== 0 && distanceMs !== this.#everyMs)) return false;
    this.#everyMs = distanceMs;
    this.#last = tick;
    this.#count += 1;
    const [least, most] = tick.result.agents ?? [Infinity, 0];
    if (this.#agents !== undefined) this.#agents = [Math.min(this.#agents[0], least), Math.max(this.#agents[1], most)];
    return true;
  }

  toJSON(): Streak {
    const { result, atMs, isWhole } = this.#first;
    const { outcome, reason } = result;
    const { detail } = this.#last.result;
    return {
      outcome,
      ...(reason === undefined ? {} : { reason }),
      ...(detail === undefined ? {} : { detail }),
      from: atMs / 1_000,
      to: this.#last.toMs / 1_000,
      ...(this.#everyMs === 0 ? {} : { every: this.#everyMs / 1_000 }),
      ...(isWhole ? {} : { count: this.#count }),
      ...(this.#agents === undefined ? {} : { agents: { least: this.#agents[0], most: this.#agents[1] } }),
    };
  }
}

const page = (ticks: readonly OpenStreak[], nextMs: number | undefined): Answer => ({
  status: 200,
  type: 'application/json',
  body: JSON.stringify({ ticks }),
  ...(nextMs === undefined ? {} : { headers: { 'Sensu-Continue': String(nextMs) } }),
});
