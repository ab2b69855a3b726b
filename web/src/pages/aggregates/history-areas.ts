/** Latest results by severity at one time, Unix seconds. */
export interface AggregateSample {
  at: number;
  ok: number;
  warning: number;
  critical: number;
  unknown: number;
}

/** The severities from the bottom of the picture to its top. */
export const PARTS = ['critical', 'warning', 'unknown', 'ok'] as const;

/** The area of each severity that occurs, as steps of width 1: a minute is as wide as any other. */
export function historyAreas(samples: readonly AggregateSample[], height: number) {
  return PARTS.flatMap((part, index) => {
    if (samples.every((sample) => sample[part] === 0)) return [];
    const below = PARTS.slice(0, index);
    const edge = (parts: readonly (typeof PARTS)[number][]) =>
      samples.map((sample) => {
        const total = PARTS.reduce((sum, one) => sum + sample[one], 0);
        const share = total === 0 ? 0 : parts.reduce((sum, one) => sum + sample[one], 0) / total;
        return Math.round((1 - share) * height * 100) / 100;
      });
    const upper = edge([...below, part]).map((y, x) => `L${x} ${y}L${x + 1} ${y}`);
    const lower = edge(below).map((y, x) => `L${x + 1} ${y}L${x} ${y}`);
    const path = [...upper, ...lower.toReversed()].join('').replace(/^L/, 'M');
    return [{ part, path: `${path}Z` }];
  });
}
