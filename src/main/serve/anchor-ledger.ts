import { anchorOf } from '../../actors/supervision/ledger-anchor.ts';
import type { ActorSystem } from '../../actors/system.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { ExpectedError } from '../../resources/errors.ts';
import { SYSTEM_NAMESPACE } from '../../resources/namespace.ts';

const INTERVAL_MS = 3_600_000;

/**
 * Logs the head of the ledger at `warn`, so that the default log level shows it, now and every hour, and sends it to `handler` if
 * there is one. Logs a warning at each anchor while that handler does not exist. The returned function stops this and logs a last anchor.
 */
export function anchorLedger(
  system: Pick<ActorSystem, 'ledgerHead' | 'publishAnchor'>,
  { clock, log, handler }: { clock: Clock; log: Log; handler: string | undefined },
): () => void {
  let cancel: () => void;
  const logAnchor = (): void => {
    log.warn({ anchor: anchorOf(system.ledgerHead) }, 'ledger anchored');
  };
  const anchor = (): void => {
    logAnchor();
    cancel = clock.after(INTERVAL_MS, anchor);
    if (handler === undefined) return;
    try {
      if (!system.publishAnchor(handler)) {
        const fields = { handler, namespace: SYSTEM_NAMESPACE, flag: 'ledger-anchor-handler' };
        log.warn(
          fields,
          'the handler of the ledger anchor does not exist, so that the anchor is only in this log; create it or correct the flag',
        );
      }
    } catch (err) {
      if (!(err instanceof ExpectedError)) throw err;
      log.warn({ err, handler }, 'could not send the ledger anchor to its handler');
    }
  };
  anchor();
  return () => {
    cancel();
    logAnchor();
  };
}
