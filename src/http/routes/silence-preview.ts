import { Type } from 'typebox';
import { assertSilenced, type Silenced, silencedName, silencedWithDefaults } from '../../resources/silenced.ts';
import { silenceableOf, silencesOf, type SilencingOptions } from '../../rules/silencing.ts';
import type { EventStore } from '../../store/event-store.ts';
import { json } from '../answer/answers.ts';
import { TimeSlices } from '../answer/time-slices.ts';
import { assertKnownParameters, textParameter } from '../request/query-parameters.ts';
import { param, type Route } from '../request/route.ts';

/** The maximum number of events that are listed; all are counted. */
const MAX_LISTED = 200;
/** The start of the previewed silence, which is in effect at every time. */
const ALWAYS = { begin: 0, expire_at: 0 };

const PreviewSchema = Type.Object(
  {
    name: Type.String({ description: 'The name that the silence would have' }),
    count: Type.Integer(),
    events: Type.Array(Type.Object({ entity: Type.String(), check: Type.String(), status: Type.Integer() }), {
      description: `The first ${MAX_LISTED} of them`,
    }),
  },
  { $id: 'mon/v1.SilencePreview' },
);

export interface SilencePreviewPorts {
  events: Pick<EventStore, 'list'>;
  silencing: SilencingOptions;
}

/** Shows which events a silence would match, with the function that decides this for results. */
export function silencePreviewRoutes({ events, silencing }: SilencePreviewPorts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/mon/v1/namespaces/:namespace/silence-preview',
      access: { resource: 'events', verb: 'list' },
      reads: 'nothing',
      description: {
        summary: 'List the events that a silence would match',
        tag: 'silenced',
        query: {
          subscription: Type.String({ description: 'As in a silence: empty or `*` = all' }),
          check: Type.String({ description: 'As in a silence: empty or `*` = all' }),
        },
        answers: { 200: { schema: PreviewSchema } },
      },
      handle: async (request) => {
        const { query, isDisconnected } = request;
        assertKnownParameters(query, ['subscription', 'check']);
        const silence = silenceIn(query);
        const name = silencedName(silence);
        const lookUp = (wanted: string): Silenced | undefined => (wanted === name ? silence : undefined);
        const matched: { entity: string; check: string; status: number }[] = [];
        const slices = new TimeSlices();
        let count = 0;
        for (const event of events.list({ namespace: param(request, 'namespace') }).items) {
          const silenceable = silenceableOf(event);
          if (silencesOf(silenceable, lookUp, 1, silencing).length > 0) {
            count += 1;
            const { entity, check } = silenceable;
            if (count <= MAX_LISTED) matched.push({ entity, check, status: event.check.status });
          }
          await slices.pause();
          if (isDisconnected()) break;
        }
        return json({ name, count, events: matched });
      },
    },
  ];
}

/** @throws InvalidResource */
function silenceIn(query: URLSearchParams): Silenced {
  const [subscription, check] = [textParameter(query, 'subscription'), textParameter(query, 'check')];
  const silence = silencedWithDefaults({
    ...ALWAYS,
    ...(subscription === undefined ? {} : { subscription }),
    ...(check === undefined ? {} : { check }),
  });
  assertSilenced(silence);
  return silence;
}
