import { at, get, MON } from '../../api/client.ts';
import { Labels } from '../../components/chips.tsx';
import { nowMs } from '../../state/now.ts';
import { useLoaded } from '../../state/resource.ts';
import { linePath, type MetricSeries, shortNumber } from './metric-lines.ts';

const WIDTH = 240;
const HEIGHT = 40;
const REFRESH_MS = 15_000;

/** The metrics of an event over the last hour. Events without metrics show nothing. */
export function Metrics({ namespace, entity, check }: { namespace: string; entity: string; check: string }) {
  const path = `${MON}${at`/namespaces/${namespace}/events/${entity}/${check}/metrics`}`;
  const { state } = useLoaded(path, (signal) => get<MetricSeries[]>(path, { signal }), { everyMs: REFRESH_MS });
  const { data = [], error } = state.value;
  if (data.length === 0 && error === undefined) return null;
  return (
    <section class="card" aria-labelledby="metrics">
      <header>
        <h2 id="metrics">Metrics</h2>
        <span class="muted">last hour</span>
      </header>
      {error !== undefined && data.length === 0 && <p class="error-text">{error}</p>}
      <ul class="metrics">
        {data.map((series) => (
          <Series key={`${series.name} ${JSON.stringify(series.tags)}`} series={series} />
        ))}
      </ul>
    </section>
  );
}

function Series({ series: { name, tags, samples } }: { series: MetricSeries }) {
  const values = samples.map(({ value }) => value);
  const [least, most, last = 0] = [Math.min(...values), Math.max(...values), values.at(-1)];
  const range = `${shortNumber(least)} to ${shortNumber(most)}`;
  const nowS = nowMs.value / 1_000;
  const path = linePath(samples, nowS, WIDTH, HEIGHT);
  return (
    <li data-metric={name}>
      <div class="metric-name">
        <code>{name}</code>
        <Labels labels={tags} />
      </div>
      <svg
        class="metric-line"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${name}: ${range}, now ${shortNumber(last)}`}
      >
        {/* A line of one sample has no length; its round end shows it. */}
        <path d={samples.length === 1 ? `${path}l0 0` : path} vector-effect="non-scaling-stroke" />
      </svg>
      <div class="metric-value">
        <strong title={String(last)}>{shortNumber(last)}</strong>
        <span class="muted">{range}</span>
      </div>
    </li>
  );
}
