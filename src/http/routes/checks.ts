import { assertCheck, type Check, parseCheckShape } from '../../resources/check.ts';
import { InvalidResource } from '../../resources/errors.ts';
import type { DescribedResource } from '../configuration-routes.ts';

export const describedCheck: DescribedResource<'checks'> = { parse: parseCheckShape, assert: assertUsableCheck };

/** @throws InvalidResource */
function assertUsableCheck(check: Check): void {
  assertCheck(check);
  assertSupported(check);
}

/** A field that would be kept but not obeyed is refused: nobody must rely on it. @throws InvalidResource */
function assertSupported(check: Check): void {
  const isUsed: Record<string, boolean> = {
    cron: check.cron !== undefined,
    round_robin: check.round_robin,
    proxy_requests: check.proxy_requests !== undefined,
    subdue: Object.keys(check.subdue?.days ?? {}).length > 0,
    subdues: check.subdues !== undefined,
  };
  for (const field in isUsed) {
    if (isUsed[field] === true) throw new InvalidResource(`${field}: not supported yet`);
  }
}
