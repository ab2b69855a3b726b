import { type AggregateSample, historyAreas, PARTS } from './history-areas.ts';

const HEIGHT = 20;

/** The shares of the severities over the last hour, the problems at the bottom. */
export function AggregateHistory({ samples }: { samples: readonly AggregateSample[] }) {
  if (samples.length < 2) return <span class="muted">no samples yet</span>;
  const words = PARTS.map((part) => {
    const counts = samples.map((sample) => sample[part]);
    return `${part} ${counts[0]} to ${counts.at(-1)}, at most ${Math.max(...counts)}`;
  }).join('; ');
  const label = `In ${samples.length} minutes: ${words}`;
  return (
    <svg
      class="aggregate-history"
      viewBox={`0 0 ${samples.length} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      {historyAreas(samples, HEIGHT).map(({ part, path }) => (
        <path key={part} class={`area-${part}`} d={path} />
      ))}
    </svg>
  );
}
