import { CheckTemplates } from '../../actors/schedules/check-templates.ts';
import { explainProxyRun, planProxyRun, requestProxyCheck } from '../../actors/schedules/proxy-requests.ts';
import { ignoredFields } from '../../actors/schedules/schedule-status.ts';
import type { DecisionContext } from '../../actors/core/decision-context.ts';
import type { ActorSystem } from '../../actors/system.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { QueueStats } from '../../ports/queue-stats.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { selectEntities } from '../../scheduler/entity-selection.ts';
import { ProxyRuns } from '../../scheduler/proxy-runs.ts';
import type { ProxyRunRequested } from '../../store/commit/decision.ts';
import type { ResourceStore } from '../../store/resource-store.ts';

export interface ProxyRunsParts {
  system: ActorSystem;
  resources: ResourceStore;
  sandbox: Sandbox;
  clock: Clock;
  log: Log;
}

export interface RunningProxyRuns {
  readonly running: QueueStats;
  stop(): void;
}

/** Starts running checks for the entities that their expressions select. */
export function startProxyRuns({ system, resources, sandbox, clock, log }: ProxyRunsParts): RunningProxyRuns {
  const decide = <T>({ cause }: ProxyRunRequested, run: (ctx: DecisionContext) => T): T =>
    system.decider.decide({ cause, unbounded: true }, run).result;
  const selection = {
    entities: (...page: [namespace: string, page: object]) => resources.list('entities', ...page),
    decide: (...task: Parameters<Sandbox['evaluate']>) => sandbox.evaluate(...task),
    nowMs: () => clock.nowMs(),
    log,
  };
  const templates = new CheckTemplates();
  const runs = new ProxyRuns({
    select: (request) => selectEntities(selection, request),
    plan: (run, entities) => decide(run, (ctx) => planProxyRun(ctx, system.rings, run, entities)),
    request: (run, target) => {
      const request = (ctx: DecisionContext) => requestProxyCheck(ctx, templates, run, target);
      const { result, durable } = system.decider.decide({ cause: run.cause, unbounded: true }, request);
      return { ...result, durable };
    },
    explain: (run, explanation) => {
      decide(run, (ctx) => {
        explainProxyRun(ctx, run, explanation);
      });
    },
    clock,
    log,
  });
  system.listen(runs);
  system.listen({
    announced: (announcement) => {
      if (announcement.type !== 'check.changed' || announcement.check === undefined) return;
      const { namespace, name, check } = announcement;
      const fields = ignoredFields(check);
      if (fields.length > 0) log.warn({ namespace, check: name, fields }, 'fields of the check have no effect');
    },
  });
  return {
    get running() {
      return runs.running;
    },
    stop() {
      runs.stop();
    },
  };
}
