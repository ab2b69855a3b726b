import { keepaliveDeadlineAtMs, keepaliveRepeat } from '../machines/entity.ts';
import { ttlDeadlineAtMs, ttlRepeat } from '../machines/check-ttl.ts';
import type { Repeat } from '../store/decision.ts';
import type { AgentPort } from './agents/agent-port.ts';
import { publishTtlExpiry } from './events/check-ttls.ts';
import { NO_INPUT } from './time/deadline-queue.ts';
import type { GuardLog } from './core/guard-log.ts';
import { publishKeepaliveAlert } from './agents/keepalives.ts';
import { deregister } from './agents/registration.ts';
import type { Rings } from './schedules/round-robin.ts';
import { explainRun, explainSkip, passTurns, requestCheck } from './schedules/schedules.ts';
import type { DecisionContext } from './core/decision-context.ts';
import type { Machines } from './core/machines.ts';

export interface EffectPorts {
  /** The decision being made. */
  ctx(): DecisionContext;
  guards: GuardLog;
  agents(): AgentPort;
  rings(): Rings;
  /** For agents that name none; undefined = no event when they leave. */
  deregistrationHandler: string | undefined;
}

/** Gives each machine its effects and records its guards, once per process. */
export function provideEffects(
  machines: Machines,
  { ctx, guards, agents, rings, deregistrationHandler }: EffectPorts,
): Machines {
  const arm = (actor: string, key: string, atMs: number | undefined, sinceMs: number, repeat?: Repeat): void => {
    ctx().decision.deadlines.push({ actor, key, atMs, sinceMs, repeat });
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
          const current = ctx();
          current.follow(() => {
            deregister(current, context, deregistrationHandler);
          });
        },
        publishAlert: ({ context }, alert) => {
          publishKeepaliveAlert(ctx(), context, alert);
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
          publishTtlExpiry(ctx(), context);
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
          requestCheck(ctx(), context, rings());
        },
        passTurns: ({ context }) => {
          passTurns(ctx(), context, rings());
        },
        explainSkip: ({ context }, skip) => {
          if (skip.isNew) explainSkip(ctx(), context, skip);
        },
        explainRun: ({ context }, { skipped }) => {
          if (skipped !== undefined) explainRun(ctx(), context);
        },
      },
    }),
  };
}
