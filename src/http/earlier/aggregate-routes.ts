import type { Commands } from '../../actors/administration/commands.ts';
import { type AggregateSummary, type MaxAge, SEVERITIES, type Severity } from '../../actors/aggregates/aggregate.ts';
import type { Aggregates } from '../../actors/aggregates/aggregates.ts';
import { InvalidResource, NotFound } from '../../resources/errors.ts';
import { resultsOf } from '../../store/aggregate-results.ts';
import type { EventStore } from '../../store/event-store.ts';
import type { Answer } from '../request/route.ts';
import { assertMay, type Datacenter, type Datacenters } from './datacenters.ts';
import { empty, jsonOf, multipleChoices } from './earlier-answers.ts';
import { listed, type ListPart } from './earlier-lists.ts';
import { digitsIn } from './earlier-query.ts';
import type { EarlierRequest, EarlierRoute } from './earlier-route.ts';
import type { Flavour } from './flavour.ts';

export interface AggregateRoutePorts {
  datacenters: Datacenters;
  aggregates: Pick<Aggregates, 'names' | 'has' | 'summary' | 'clients' | 'checks' | 'members'>;
  events: Pick<EventStore, 'get'>;
  commands: Pick<Commands, 'deleteAggregate'>;
  flavour: Pick<Flavour, 'deleted'>;
  /** Unix seconds. */
  nowS(): number;
}

/** Aggregates consist of results. */
const RESOURCE = 'events';
const ROOT = '/aggregates';
const NAMED = `${ROOT}/:aggregate`;

export function earlierAggregateRoutes({
  datacenters,
  aggregates,
  events,
  commands,
  flavour,
  nowS,
}: AggregateRoutePorts): EarlierRoute[] {
  /** Answers for the one datacenter that has the aggregate. @throws NotFound when none has it */
  const ofOne = async (
    request: EarlierRequest,
    answer: (datacenter: Datacenter, name: string) => Answer | Promise<Answer>,
  ): Promise<Answer> => {
    const { aggregate: name = '' } = request.params;
    const having = datacenters
      .allowed(request, RESOURCE, 'list')
      .filter(({ namespace }) => aggregates.has(namespace, name));
    const [only, ...others] = having;
    if (only === undefined) throw new NotFound();
    return others.length === 0
      ? answer(only, name)
      : multipleChoices(
          request,
          having.map(({ dc }) => named(dc, name)),
        );
  };

  const list = (request: EarlierRequest): Promise<Answer> => {
    const parts = datacenters.allowed(request, RESOURCE, 'list').map(({ dc, namespace }): ListPart => {
      const names = aggregates.names(namespace);
      return {
        count: () => names.length,
        items: ({ offset, limit }) => names.slice(offset, offset + limit).map((name) => named(dc, name)),
      };
    });
    return listed(request, parts);
  };

  const ageOf = ({ query }: EarlierRequest): MaxAge | undefined => {
    const maxAgeS = digitsIn(query, 'max_age');
    return maxAgeS === undefined ? undefined : { maxAgeS, nowS: nowS() };
  };

  const results = (request: EarlierRequest): Promise<Answer> => {
    const severity = SEVERITIES.find((one) => one === request.params['severity']);
    if (severity === undefined) throw new InvalidResource(`severity must be one of ${SEVERITIES.join(', ')}`);
    return ofOne(request, ({ namespace }, name) => grouped(namespace, name, severity, ageOf(request)));
  };

  const grouped = async (namespace: string, name: string, severity: Severity, age?: MaxAge): Promise<Answer> => {
    const members = aggregates.members(namespace, name, severity, age) ?? [];
    return jsonOf(200, await resultsOf(events, namespace, members));
  };

  /** Deletes an aggregate; with `prune=stale` only its members that are stale by `max_age`. */
  const remove = async (request: EarlierRequest): Promise<Answer> => {
    const pruned = prunedBy(request);
    return ofOne(request, async ({ namespace }, name) => {
      assertMay(request, { resource: RESOURCE, verb: 'delete', namespace, name: '' });
      await commands.deleteAggregate(namespace, name, request.caller.username, pruned);
      return empty(flavour.deleted);
    });
  };

  const prunedBy = (request: EarlierRequest): MaxAge | undefined => {
    const prune = request.query.get('prune');
    if (prune === undefined) return undefined;
    const age = ageOf(request);
    if (prune === 'stale' && age !== undefined) return age;
    throw new InvalidResource('prune must be stale, together with max_age in seconds');
  };

  const summary = (request: EarlierRequest): Promise<Answer> =>
    ofOne(request, ({ namespace }, name) => {
      const counted = aggregates.summary(namespace, name, ageOf(request));
      const hasPercent = counted !== undefined && request.query.get('percent') === 'true';
      return jsonOf(200, hasPercent ? { ...counted, percent: percentOf(counted) } : counted);
    });

  return [
    { method: 'GET', path: ROOT, handle: list },
    { method: 'GET', path: NAMED, handle: summary },
    { method: 'DELETE', path: NAMED, handle: remove },
    {
      method: 'GET',
      path: `${NAMED}/clients`,
      handle: (request) => ofOne(request, ({ namespace }, name) => jsonOf(200, aggregates.clients(namespace, name))),
    },
    {
      method: 'GET',
      path: `${NAMED}/checks`,
      handle: (request) => ofOne(request, ({ namespace }, name) => jsonOf(200, aggregates.checks(namespace, name))),
    },
    { method: 'GET', path: `${NAMED}/results/:severity`, handle: results },
  ];
}

/** The shares of the severities in the results that are not stale, and of the stale ones in all, in percent with two decimals. */
function percentOf({ results }: AggregateSummary): Record<Severity | 'stale', number> {
  const { ok, warning, critical, unknown, total, stale } = results;
  const share = (part: number, whole: number): number => (whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 100);
  return {
    ok: share(ok, total),
    warning: share(warning, total),
    critical: share(critical, total),
    unknown: share(unknown, total),
    stale: share(stale, total + stale),
  };
}

const named = (dc: string, name: string) => ({ _id: `${dc}/${name}`, dc, name });
