import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import type { Box, Chart, Layout, LayoutName } from './chart.ts';
import { nameOf } from './chart-states.ts';
import { type ChartMarks, ChartParts } from './chart-svg.tsx';
import { usePanZoom } from './use-pan-zoom.ts';

/** Below this scale, texts cannot be read. */
const READABLE = 0.5;
/** The scale at which a part of a chart is shown. */
const PART_SCALE = 0.8;
/** The largest fraction of the window that a chart takes. */
const MAX_WINDOW_PART = 0.74;

interface ChartViewProps extends ChartMarks {
  chart: Chart;
  /** A description of the chart, for screen readers. */
  label: string;
  /** Begins with the small layout, without labels. */
  isCompact?: boolean;
}

/** A chart that can be moved and scaled. On a narrow page it begins at the current state. */
export function ChartView({ chart, label, active, taken, counts, isCompact = false }: ChartViewProps) {
  const element = useRef<HTMLDivElement>(null);
  const [pageWidth, setPageWidth] = useState(0);
  const [chosen, setChosen] = useState<LayoutName | undefined>(isCompact ? 'small' : undefined);
  const kind =
    chosen ?? (scaleOf(chart.layouts.wide, pageWidth) >= scaleOf(chart.layouts.tall, pageWidth) ? 'wide' : 'tall');
  const layout = chart.layouts[kind];
  const whole = useMemo(() => ({ x: 0, y: 0, width: layout.width, height: layout.height }), [layout]);
  const { view, zoom, show, handlers } = usePanZoom(whole, element);
  const titleId = useId();
  useEffect(() => {
    const target = element.current;
    if (target === null) return undefined;
    const observer = new ResizeObserver(() => setPageWidth(target.clientWidth));
    observer.observe(target);
    return () => observer.disconnect();
  }, []);
  const current = innermost(chart, layout, active);
  const isPart = pageWidth > 0 && scaleOf(layout, pageWidth) < READABLE && current !== undefined;
  const currentKey = [...(active ?? [])].join(' ');
  useEffect(() => {
    const frame = element.current;
    if (isPart && frame !== null)
      show(around(current, frame.clientWidth / PART_SCALE, frame.clientHeight / PART_SCALE));
  }, [isPart, currentKey, layout, pageWidth]);
  return (
    <div class="chart-view">
      <div class="chart-tools" role="toolbar" aria-label="View of the chart">
        <button type="button" onClick={() => zoom(1.3)} aria-label="Zoom in" title="Zoom in (+)">
          +
        </button>
        <button type="button" onClick={() => zoom(1 / 1.3)} aria-label="Zoom out" title="Zoom out (−)">
          −
        </button>
        <button type="button" onClick={() => show(whole)} title="Show everything (0)">
          Fit
        </button>
        <button
          type="button"
          onClick={() => setChosen(kind === 'small' ? undefined : kind === 'wide' ? 'tall' : 'wide')}
          title="Show labels, or read the chart in another direction"
        >
          {kind === 'small' ? 'Show labels' : kind === 'wide' ? 'Top to bottom' : 'Left to right'}
        </button>
      </div>
      <div
        ref={element}
        class={isPart ? 'chart-frame is-part' : 'chart-frame'}
        tabIndex={0}
        role="group"
        aria-label={`${label}. The arrow keys move the chart, plus and minus scale it, 0 shows all of it.`}
        style={{ aspectRatio: isPart ? 'auto' : `${layout.width} / ${layout.height}` }}
        {...handlers}
      >
        <svg
          viewBox={`${view.x} ${view.y} ${view.width} ${view.height}`}
          role="img"
          aria-labelledby={`${titleId} ${titleId}-d`}
        >
          <title id={titleId}>{label}</title>
          <desc id={`${titleId}-d`}>{descriptionOf(chart, active)}</desc>
          <ChartParts chart={chart} layout={layout} active={active} taken={taken} counts={counts} />
        </svg>
      </div>
    </div>
  );
}

function innermost(chart: Chart, layout: Layout, active: ReadonlySet<string> | undefined): Box | undefined {
  const id = chart.states.findLast(({ id: state, parent }) => parent !== undefined && active?.has(state) === true)?.id;
  return id === undefined ? undefined : layout.states[id];
}

/** A part of the chart of this size, with a state in its centre. */
const around = ({ x, y, width, height }: Box, partWidth: number, partHeight: number): Box => ({
  x: x + width / 2 - partWidth / 2,
  y: y + height / 2 - partHeight / 2,
  width: partWidth,
  height: partHeight,
});

/** The scale at which the whole layout fits. */
const scaleOf = ({ width, height }: Layout, pageWidth: number): number =>
  Math.min(pageWidth / width, (window.innerHeight * MAX_WINDOW_PART) / height, 1);

function descriptionOf({ description, states, transitions }: Chart, active: ReadonlySet<string> | undefined): string {
  const names = states.filter(({ parent }) => parent !== undefined).map(({ name }) => name);
  const current = [...(active ?? [])].map(nameOf).filter((name) => name !== '');
  const now = current.length === 0 ? '' : ` The current state is ${current.at(-1)}.`;
  return `${description}${now} States: ${names.join(', ')}. ${transitions.length} transitions.`;
}
