import type { DescribedResource } from './configuration-kind.ts';

/** Those who poll checks know no other answer: the recording rest/12-etags. */
export const describedCheck: Partial<DescribedResource<'checks'>> = { isShownAlways: true };
