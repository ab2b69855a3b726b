import type { DescribedResource } from '../configuration-routes.ts';

/** Those who poll checks know no other answer: the recording rest/12-etags. */
export const describedCheck: Partial<DescribedResource<'checks'>> = { isShownAlways: true };
