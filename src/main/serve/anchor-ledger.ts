import { anchorOf } from '../../actors/supervision/ledger-anchor.ts';
import type { ActorSystem } from '../../actors/system.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { ExpectedError } from '../../resources/errors.ts';

const INTERVAL_MS = 3_600_000;

/** Writes the head of the ledger to the log, now and every hour, and sends it to `handler` if there is one. The returned function stops that and logs a last anchor. */
export function anchorLedger(
  system: ActorSystem,
  { clock, log, handler }: { clock: Clock; log: Log; handler: string | undefined },
): () => void {
  let cancel: () => void;
  const logAnchor = (): void => {
    log.info({ anchor: anchorOf(system.ledgerHead) }, 'ledger anchored');
  };
  const anchor = (): void => {
    logAnchor();
    cancel = clock.after(INTERVAL_MS, anchor);
    if (handler === undefined) return;
    try {
      system.publishAnchor(handler);
    } catch (err) {
      if (!(err instanceof ExpectedError)) throw err;
      log.warn({ err, handler }, 'ledger anchor could not be handed over');
    }
  };
  anchor();
  return () => {
    cancel();
    logAnchor();
  };
}
