import type { CheckEvent } from '../../resources/event.ts';
import type { DecisionContext } from '../core/decision-context.ts';

/** The annotation of an alert with the seconds of blind time before it. */
const BLIND_ANNOTATION = 'mon.io/blind-seconds';

/** Annotates the first alert after blind time. Repeated alerts are not annotated. */
export function withBlindTime(ctx: DecisionContext, event: CheckEvent): CheckEvent {
  const blindMs = blindMsOf(ctx);
  const others = Object.entries(event.metadata.annotations ?? {}).filter(([name]) => name !== BLIND_ANNOTATION);
  const own = blindMs !== undefined ? [[BLIND_ANNOTATION, String(Math.round(blindMs / 1_000))] as const] : [];
  const entries = [...others, ...own];
  const annotations = entries.length === 0 ? undefined : Object.fromEntries(entries);
  return { ...event, metadata: { ...event.metadata, annotations } };
}

/** The blind time before the alert that is being made; undefined without any, or for a repeated alert. */
export function blindMsOf(ctx: DecisionContext): number | undefined {
  const blindMs = ctx.details?.['blindMs'];
  return typeof blindMs === 'number' ? blindMs : undefined;
}
