import { parseDurationMs } from './duration.ts';
import { InvalidResource } from './errors.ts';
import type { ObjectMeta } from './object-meta.ts';

/** How long the events that a command did not handle are tried again. */
const RETRY_FOR = 'mon.io/retry-for';
/** How many runs of a handler may be active at the same time. */
const MAX_PARALLEL = 'mon.io/max-parallel';
/** The runs of all handlers share this number. */
const LARGEST_MAX_PARALLEL = 100;
const LONGEST_RETRY_MS = 7 * 24 * 3_600_000;

/** The annotations of a handler that control its delivery. */
export interface HandlerDelivery {
  /** Undefined where the annotation is missing. */
  retryForMs: number | undefined;
  maxParallel: number | undefined;
}

/** Reads the annotations. Values that `assertHandlerDelivery` rejects count as missing. */
export function handlerDelivery({ annotations }: Pick<ObjectMeta, 'annotations'>): HandlerDelivery {
  return {
    retryForMs: retryForMs(annotations?.[RETRY_FOR]),
    maxParallel: maxParallel(annotations?.[MAX_PARALLEL]),
  };
}

/** @throws InvalidResource that names the annotation and its rule */
export function assertHandlerDelivery(
  { annotations }: Pick<ObjectMeta, 'annotations'>,
  type: string | undefined,
): void {
  const [retryFor, parallel] = [annotations?.[RETRY_FOR], annotations?.[MAX_PARALLEL]];
  if (type === 'set' && (retryFor !== undefined || parallel !== undefined)) {
    const name = retryFor === undefined ? MAX_PARALLEL : RETRY_FOR;
    throw new InvalidResource(
      `annotation ${name} must be on the handlers of a set, because a set has no runs of its own`,
    );
  }
  if (retryFor !== undefined && retryForMs(retryFor) === undefined) {
    throw new InvalidResource(`annotation ${RETRY_FOR} must be a duration of at most 168h, for example 30m`);
  }
  if (parallel !== undefined && maxParallel(parallel) === undefined) {
    throw new InvalidResource(`annotation ${MAX_PARALLEL} must be an integer from 1 to ${LARGEST_MAX_PARALLEL}`);
  }
}

function retryForMs(text: string | undefined): number | undefined {
  const durationMs = text === undefined ? undefined : parseDurationMs(text);
  return durationMs === undefined || durationMs > LONGEST_RETRY_MS ? undefined : durationMs;
}

function maxParallel(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,3}$/.test(text)) return undefined;
  const count = Number(text);
  return count >= 1 && count <= LARGEST_MAX_PARALLEL ? count : undefined;
}
