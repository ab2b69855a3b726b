import { agentConnectionMachine } from '../machines/agent-connection.ts';
import { checkScheduleMachine } from '../machines/check-schedule.ts';
import { checkTtlMachine } from '../machines/check-ttl.ts';
import { entityMachine, keepaliveDeadlineAtMs, keepaliveRepeat } from '../machines/entity.ts';
import { ttlDeadlineAtMs, ttlRepeat } from '../machines/check-ttl.ts';
import type { Repeat } from '../store/decision.ts';
import type { AgentPort } from './agent-port.ts';
import { publishTtlExpiry } from './check-ttls.ts';
import { NO_INPUT } from './deadline-wheel.ts';
import type { GuardLog } from './guard-log.ts';
import { publishKeepaliveAlert } from './keepalives.ts';
import { deregister } from './registration.ts';
import type { Rings } from './round-robin.ts';
import { explainRun, explainSkip, passTurns, requestCheck } from './schedules.ts';
import type { Scope } from './scope.ts';

/** The machines as they are defined, without effects. Tests put broken ones in their place. */
export const MACHINES = {
  entity: entityMachine,
  'check-ttl': checkTtlMachine,
  connection: agentConnectionMachine,
  'check-schedule': checkScheduleMachine,
};
export type Machines = typeof MACHINES;

export interface EffectPorts {
  /** The decision being made. */
  scope(): Scope;
  guards: GuardLog;
  agents(): AgentPort;
  rings(): Rings;
  /** For agents that name none; undefined = no event when they leave. */
  deregistrationHandler: string | undefined;
}

/** Gives each machine its effects and records its guards, once per process. */
export function provideEffects(
  machines: Machines,
  { scope, guards, agents, rings, deregistrationHandler }: EffectPorts,
): Machines {
  const arm = (actor: string, key: string, atMs: number | undefined, sinceMs: number, repeat?: Repeat): void => {
    scope().decision.deadlines.push({ actor, key, atMs, sinceMs, repeat });
  };
  const disarm = (actor: string) =>
    function clearDeadline({ context }: { context: { key: string } }): void {
      arm(actor, context.key, undefined, 0);
    };
  return {
    entity: guards.record(machines.entity).provide({
      actions: {
        setDeadline: ({ context }) => {
          const { key, lastReceivedAtMs } = context;
          arm('entity', key, keepaliveDeadlineAtMs(context), lastReceivedAtMs, keepaliveRepeat(context));
        },
        clearDeadline: disarm('entity'),
        deregister: ({ context }) => {
          const current = scope();
          current.follow(() => {
            deregister(current, context, deregistrationHandler);
          });
        },
        publishAlert: ({ context }, alert) => {
          publishKeepaliveAlert(scope(), context, alert);
        },
      },
    }),
    'check-ttl': guards.record(machines['check-ttl']).provide({
      actions: {
        setDeadline: ({ context }) => {
          const { key, lastReceivedAtMs } = context;
          arm('check-ttl', key, ttlDeadlineAtMs(context), lastReceivedAtMs, ttlRepeat(context));
        },
        clearDeadline: disarm('check-ttl'),
        publishExpiry: ({ context }) => {
          publishTtlExpiry(scope(), context);
        },
      },
    }),
    connection: guards.record(machines.connection).provide({
      actions: {
        setDeadline: ({ context }) => {
          arm('connection', context.key, context.deadlineAtMs, NO_INPUT);
        },
        clearDeadline: disarm('connection'),
        sendPing: ({ context }) => agents().session(context.key)?.ping(),
        closeSocket: ({ context }, { code, reason }) => agents().session(context.key)?.close(code, reason),
        terminateSocket: ({ context }) => agents().session(context.key)?.terminate(),
      },
    }),
    'check-schedule': guards.record(machines['check-schedule']).provide({
      actions: {
        setDeadline: ({ context }) => {
          arm('check-schedule', context.key, context.nextTickAtMs, NO_INPUT);
        },
        clearDeadline: disarm('check-schedule'),
        requestCheck: ({ context }) => {
          requestCheck(scope(), context, rings());
        },
        passTurns: ({ context }) => {
          passTurns(scope(), context, rings());
        },
        explainSkip: ({ context }, skip) => {
          if (skip.isNew) explainSkip(scope(), context, skip);
        },
        explainRun: ({ context }, { skipped }) => {
          if (skipped !== undefined) explainRun(scope(), context);
        },
      },
    }),
  };
}
