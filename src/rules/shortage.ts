const SHORTAGES = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'ENOBUFS']);

/** Whether a system error means that descriptors, processes or memory are used up, so that a later attempt may succeed. */
export const isShortage = (code: string | undefined): boolean => code !== undefined && SHORTAGES.has(code);

/** The errors that are followed from one to the error that caused it. */
const MAX_CAUSES = 10;

/** Whether an error, or one that caused it, satisfies `is`. */
export function hasCause(error: unknown, is: (cause: Error) => boolean): boolean {
  let cause = error;
  for (let depth = 0; depth < MAX_CAUSES && cause instanceof Error; depth += 1) {
    if (is(cause)) return true;
    if (cause instanceof AggregateError && cause.errors.some((one) => one instanceof Error && is(one))) return true;
    ({ cause } = cause);
  }
  return false;
}

/** Whether an error, or one that caused it, means that descriptors, processes or memory are used up. */
export const isShortageError = (error: unknown): boolean =>
  hasCause(error, (cause) => isShortage((cause as Error & { code?: string }).code));
