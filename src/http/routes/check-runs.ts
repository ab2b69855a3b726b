import type { Commands } from '../../actors/commands.ts';
import type { ScheduleStatus } from '../../actors/schedules.ts';
import type { Log } from '../../ports/log.ts';
import { parseAdhocRequest } from '../../resources/adhoc-request.ts';
import { NotFound } from '../../resources/errors.ts';
import { json } from '../answers.ts';
import { CORE, param, type Route } from '../route.ts';

export interface CheckRunPorts {
  commands: Pick<Commands, 'executeCheck'>;
  /** Undefined when there is no such check. */
  scheduleStatus(namespace: string, check: string): ScheduleStatus | undefined;
  log: Log;
}

const RESOURCE = 'checks';
const CHECK = 'namespaces/:namespace/checks/:name';
const NAME = ['name'] as const;

/** What a person asks of the runs of a check: one now, and when the others are. */
export function checkRunRoutes({ commands, scheduleStatus, log }: CheckRunPorts): Route[] {
  return [
    {
      method: 'POST',
      path: `${CORE}/${CHECK}/execute`,
      access: { resource: RESOURCE, verb: 'create', nameFrom: NAME },
      reads: 'optional-json',
      handle: async (request) => {
        const asked = parseAdhocRequest(request.body);
        const [namespace, check, user] = [param(request, 'namespace'), param(request, 'name'), request.caller.username];
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
      handle: (request) => {
        const status = scheduleStatus(param(request, 'namespace'), param(request, 'name'));
        if (status === undefined) throw new NotFound();
        return json(shown(status));
      },
    },
  ];
}

function shown({ intervalS, nextTickAtMs, lastRunAtMs, lastSkip }: ScheduleStatus): object {
  return {
    interval: intervalS,
    next_at: secondsOf(nextTickAtMs),
    last_at: secondsOf(lastRunAtMs),
    last_skip: lastSkip === undefined ? null : { at: secondsOf(lastSkip.atMs), reason: lastSkip.reason },
  };
}

/** As requests are dated: the second that the moment is in. */
const secondsOf = (ms: number | undefined): number | null => (ms === undefined ? null : Math.floor(ms / 1_000));
