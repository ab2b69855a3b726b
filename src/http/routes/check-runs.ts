import { type Static, Type } from 'typebox';
import type { Commands } from '../../actors/administration/commands.ts';
import type { ScheduleStatus } from '../../actors/schedules/schedule-status.ts';
import type { Log } from '../../ports/log.ts';
import { AdhocRequestSchema, parseAdhocRequest } from '../../resources/adhoc-request.ts';
import { NotFound } from '../../resources/errors.ts';
import { isName } from '../../resources/names.ts';
import { json } from '../answer/answers.ts';
import { nullable } from '../openapi/descriptions.ts';
import { CORE, param, type Route } from '../request/route.ts';

export interface CheckRunPorts {
  commands: Pick<Commands, 'executeCheck'>;
  /** Undefined when the check does not exist. */
  scheduleStatus(namespace: string, check: string): ScheduleStatus | undefined;
  log: Log;
}

const RESOURCE = 'checks';
const CHECK = 'namespaces/:namespace/checks/:name';
const NAME = ['name'] as const;

const ScheduleSchema = Type.Object(
  {
    interval: Type.Integer({ description: 'Interval in seconds; 0 if the check has a cron expression' }),
    cron: Type.Optional(Type.String()),
    next_at: nullable(
      Type.Integer({ description: 'Next run, Unix seconds; null while the schedule is in quarantine' }),
    ),
    upcoming: Type.Array(Type.Integer(), {
      description: 'The next five runs, Unix seconds; empty while the schedule is in quarantine',
    }),
    last_at: nullable(
      Type.Integer({ description: 'Last run, Unix seconds; null if the check has not run since the backend started' }),
    ),
    last_skip: nullable(
      Type.Object({ at: nullable(Type.Integer()), reason: Type.String(), detail: Type.Optional(Type.String()) }),
    ),
    ignored: Type.Optional(Type.Array(Type.String(), { description: 'Fields of the check that have no effect' })),
  },
  { $id: 'mon/v1.Schedule' },
);

/** Runs a check on request and shows its schedule. */
export function checkRunRoutes({ commands, scheduleStatus, log }: CheckRunPorts): Route[] {
  return [
    {
      method: 'POST',
      path: `${CORE}/${CHECK}/execute`,
      access: { resource: RESOURCE, verb: 'create', nameFrom: NAME },
      reads: 'optional-json',
      description: {
        summary: 'Run a check now',
        body: AdhocRequestSchema,
        answers: {
          202: { schema: Type.Object({ issued: Type.Integer({ description: 'Time of the request, Unix seconds' }) }) },
        },
      },
      handle: async (request) => {
        const asked = parseAdhocRequest(request.body);
        const [namespace, check, user] = [param(request, 'namespace'), param(request, 'name'), request.caller.username];
        if (!isName(check)) throw new NotFound();
        const issued = await commands.executeCheck(namespace, check, asked, user);
        log.info({ namespace, check, user, ...asked }, 'check execution requested');
        return { ...json({ issued }), status: 202 };
      },
    },
    {
      method: 'GET',
      path: `/api/mon/v1/${CHECK}/schedule`,
      access: { resource: RESOURCE, verb: 'get', nameFrom: NAME },
      reads: 'nothing',
      description: { summary: 'Show the schedule of a check', answers: { 200: { schema: ScheduleSchema } } },
      handle: (request) => {
        const [namespace, name] = [param(request, 'namespace'), param(request, 'name')];
        const status = scheduleStatus(namespace, name);
        if (status === undefined) throw new NotFound(`check ${namespace}/${name} not found`);
        return json(shown(status));
      },
    },
  ];
}

function shown(status: ScheduleStatus): Static<typeof ScheduleSchema> {
  const { intervalS, cron, nextTickAtMs, upcomingAtMs, lastRunAtMs, lastSkip, ignored } = status;
  return {
    interval: intervalS,
    ...(cron === undefined ? {} : { cron }),
    next_at: secondsOf(nextTickAtMs),
    upcoming: upcomingAtMs.map((atMs) => Math.floor(atMs / 1_000)),
    last_at: secondsOf(lastRunAtMs),
    last_skip: lastSkip === undefined ? null : shownSkip(lastSkip),
    ...(ignored.length === 0 ? {} : { ignored: [...ignored] }),
  };
}

const shownSkip = ({ atMs, reason, detail }: NonNullable<ScheduleStatus['lastSkip']>) => ({
  at: secondsOf(atMs),
  reason,
  ...(detail === undefined ? {} : { detail }),
});

/** Unix seconds, rounded down as in check requests. */
const secondsOf = (ms: number | undefined): number | null => (ms === undefined ? null : Math.floor(ms / 1_000));
