import type { DescribedResource } from './configuration-kind.ts';

/** GET of a check never answers 304: existing clients rely on that. Source: the recording rest/12-etags. */
export const describedCheck: Partial<DescribedResource<'checks'>> = { ignoresIfNoneMatch: true };
