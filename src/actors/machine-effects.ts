import { keepaliveDeadlineAtMs, keepaliveRepeat } from '../machines/entity.ts';
import { ttlDeadlineAtMs, ttlRepeat } from '../machines/check-ttl.ts';
import type { Repeat } from '../store/commit/decision.ts';
import type { AgentSession } from './agents/agent-session.ts';
import { publishTtlExpiry } from './events/check-ttls.ts';
import { NO_INPUT } from './time/deadline-queue.ts';
import type { GuardLog } from './core/guard-log.ts';
import { publishKeepaliveAlert } from './agents/keepalives.ts';
import { deregister } from './agents/registration.ts';
import type { Rings } from './schedules/round-robin.ts';
import { explainRun, explainSkip, advanceRings, requestCheck } from './schedules/schedules.ts';
import { recordTick } from './ticks/check-ticks.ts';
import type { CurrentDecision } from './core/current-decision.ts';
import type { Machines } from './core/machines.ts';

export interface EffectPorts {
  /** Effects write into the decision that is being made. */
  current: CurrentDecision;
  guards: GuardLog;
  /** The open connections, by id. */
  sessions: { get(id: string): AgentSession | undefined };
  rings(): Rings;
  /** The handler for agents that leave and name none; undefined = no event when they leave. */
  deregistrationHandler: string | undefined;
}

/** Gives each machine its effects and records its guards, once per process. */
export function provideEffects(
  machines: Machines,
  { current, guards, sessions, rings, deregistrationHandler }: EffectPorts,
): Machines {
  const arm = (actor: string, key: string, atMs: number | undefined, sinceMs: number, repeat?: Repeat): void => {
    current.ctx.decision.deadlines.push({ actor, key, atMs, sinceMs, repeat });
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
          const { ctx } = current;
          ctx.follow(() => {
            deregister(ctx, context, deregistrationHandler);
          });
        },
        publishAlert: ({ context }, alert) => {
          publishKeepaliveAlert(current.ctx, context, alert);
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
          publishTtlExpiry(current.ctx, context);
        },
      },
    }),
    connection: guards.record(machines.connection).provide({
      actions: {
        setDeadline: ({ context }) => {
          arm('connection', context.key, context.deadlineAtMs, NO_INPUT);
        },
        clearDeadline: disarm('connection'),
        sendPing: ({ context }) => sessions.get(context.key)?.ping(),
        closeSocket: ({ context }, { code, reason }) => sessions.get(context.key)?.close(code, reason),
        terminateSocket: ({ context }) => sessions.get(context.key)?.terminate(),
      },
    }),
    'check-schedule': guards.record(machines['check-schedule']).provide({
      actions: {
        setDeadline: ({ context }) => {
          arm('check-schedule', context.key, context.nextTickAtMs, NO_INPUT);
        },
        clearDeadline: disarm('check-schedule'),
        requestCheck: ({ context }) => {
          requestCheck(current.ctx, context, rings());
        },
        advanceRings: ({ context }) => {
          advanceRings(current.ctx, context, rings());
        },
        explainSkip: ({ context }, skip) => {
          if (skip.isNew) explainSkip(current.ctx, context, skip);
          const { reason, detail } = skip;
          recordTick(current.ctx, context.key, { outcome: 'skipped', reason, detail }, context.nextTickAtMs);
        },
        explainRun: ({ context }, { skipped }) => {
          if (skipped !== undefined) explainRun(current.ctx, context);
        },
      },
    }),
  };
}
