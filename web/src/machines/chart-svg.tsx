import type { Chart, ChartState, ChartTransition, Layout, PlacedEdge, PlacedLine, PlacedState } from './chart.ts';
import { headOf, pathOf } from './chart-paths.ts';
import { toneOf } from './tone.ts';
import './chart.css';

export interface ChartMarks {
  /** Ids of the current states, the outer ones too. */
  active?: ReadonlySet<string> | undefined;
  /** Ids of the transitions that were taken last, or of the arrow to an initial state. */
  taken?: ReadonlySet<string> | undefined;
  /** Numbers to show beside states, by id. */
  counts?: ReadonlyMap<string, number> | undefined;
}

interface ChartPartsProps extends ChartMarks {
  chart: Chart;
  layout: Layout;
}

const NONE: ReadonlySet<string> = new Set();

/** The parts of a chart, as the content of an `svg` element. */
export function ChartParts({ chart, layout, active = NONE, taken = NONE, counts }: ChartPartsProps) {
  const isTaken = ({ id, of }: PlacedEdge): boolean => taken.has(id) || of.some((transition) => taken.has(transition));
  // Arrows that were taken are drawn above the others.
  const edges = layout.edges.toSorted((one, other) => Number(isTaken(one)) - Number(isTaken(other)));
  const sentences = new Map(chart.transitions.map((transition) => [transition.id, sentenceOf(transition)]));
  const titleOf = ({ of }: PlacedEdge): string => of.map((id) => sentences.get(id)).join('\n');
  const states = chart.states.flatMap((state) => {
    const place = layout.states[state.id];
    return place === undefined ? [] : [{ state, place, isActive: active.has(state.id), count: counts?.get(state.id) }];
  });
  const compound = states.filter(({ state }) => state.type === 'compound');
  const simple = states.filter(({ state }) => state.type !== 'compound');
  return (
    <g class="chart">
      {compound.map((shown) => (
        <StateBox key={shown.state.id} {...shown} />
      ))}
      {edges.map((edge) => (
        <Arrow key={edge.id} edge={edge} isTaken={isTaken(edge)} title={titleOf(edge)} />
      ))}
      {compound.map((shown) => (
        <StateTexts key={shown.state.id} {...shown} taken={taken} />
      ))}
      {simple.map((shown) => (
        <g key={shown.state.id}>
          <StateBox {...shown} />
          <StateTexts {...shown} taken={taken} />
        </g>
      ))}
      {edges.map((edge) => edge.label && <Label key={edge.id} edge={edge} taken={taken} title={titleOf(edge)} />)}
    </g>
  );
}

interface StateProps {
  state: ChartState;
  place: PlacedState;
  isActive: boolean;
}

function classOf({ state: { name, type, parent }, isActive }: StateProps): string {
  const machine = parent === undefined ? ' machine' : '';
  return `state ${type}${machine}${isActive ? ` active tone-${toneOf(name)}` : ''}`;
}

function StateBox(props: StateProps) {
  const { state, place, isActive } = props;
  const { id, name, type, description, parent } = state;
  const { x, y, width, height, headHeight, lines } = place;
  const ruleY = y + (type === 'compound' ? headHeight : 28);
  return (
    <g class={classOf(props)} data-state={id} data-active={isActive}>
      <title>{isActive ? `${name} (current state): ${description}` : `${name}: ${description}`}</title>
      <rect class="box" x={x} y={y} width={width} height={height} rx={parent === undefined ? 12 : 9} />
      {type === 'final' && <rect class="inner-box" x={x + 3} y={y + 3} width={width - 6} height={height - 6} rx={6} />}
      {hasHead(props) && parent !== undefined && lines.length + Number(type === 'compound') > 0 && (
        <line class="rule" x1={x} x2={x + width} y1={ruleY} y2={ruleY} />
      )}
    </g>
  );
}

/** Whether the name is at the upper left of the box instead of its centre. */
const hasHead = ({ state: { type }, place: { lines } }: StateProps): boolean => type === 'compound' || lines.length > 0;

function StateTexts(props: StateProps & { taken: ReadonlySet<string>; count: number | undefined }) {
  const { state, place, isActive, taken, count } = props;
  const { name, parent } = state;
  const { x, y, width, lines } = place;
  const isMarked = isActive && parent !== undefined;
  const middle = x + width / 2 + (isMarked ? 7 : 0);
  const nameX = hasHead(props) ? x + (isMarked ? 25 : 12) : middle;
  const markX = hasHead(props) ? x + 16 : middle - name.length * 3.8 - 9;
  return (
    <g class={`${classOf(props)} texts`}>
      {isMarked && <circle class="mark" cx={markX} cy={y + 15} r={4} />}
      <text class="name" x={nameX} y={y + 19.5} text-anchor={hasHead(props) ? 'start' : 'middle'}>
        {name}
      </text>
      {count !== undefined && <Count place={place} count={count} />}
      <Lines lines={lines} taken={taken} />
    </g>
  );
}

/** The number of actors in a state, on its upper right corner. */
function Count({ place: { x, y, width }, count }: { place: PlacedState; count: number }) {
  const text = count.toLocaleString('en');
  const pillWidth = text.length * 7.4 + 14;
  const left = x + width - pillWidth + 8;
  return (
    <g class={count === 0 ? 'count none' : 'count'} data-count={count}>
      <rect x={left} y={y - 10} width={pillWidth} height={20} rx={10} />
      <text x={left + pillWidth / 2} y={y + 4} text-anchor="middle">
        {text}
      </text>
    </g>
  );
}

function Arrow({ edge: { id, points, of }, isTaken, title }: { edge: PlacedEdge; isTaken: boolean; title: string }) {
  const [[x, y] = [0, 0]] = points;
  const isInitial = of.length === 0;
  return (
    <g class={isTaken ? 'edge taken' : 'edge'} data-edge={id} data-taken={isTaken}>
      <title>{isInitial ? 'The initial state' : title}</title>
      {isInitial && <circle class="initial" cx={x} cy={y} r={4.5} />}
      <path class="line" d={pathOf(points)} />
      <polygon class="head" points={headOf(points)} />
    </g>
  );
}

interface LabelProps {
  edge: PlacedEdge;
  taken: ReadonlySet<string>;
  title: string;
}

function Label({ edge: { id, label, lines }, taken, title }: LabelProps) {
  if (label === undefined) return null;
  return (
    <g class="label" data-label={id}>
      <title>{title}</title>
      <rect {...label} rx={5} />
      <Lines lines={lines} taken={taken} />
    </g>
  );
}

function Lines({ lines, taken }: { lines: readonly PlacedLine[]; taken: ReadonlySet<string> }) {
  return (
    <>
      {lines.map(({ kind, text, x, y, of }) => (
        <text key={y} class={of.some((id) => taken.has(id)) ? `line-${kind} taken` : `line-${kind}`} x={x} y={y}>
          {text}
        </text>
      ))}
    </>
  );
}

/** A transition as one line of text. */
export function sentenceOf({ event, guard, isOtherwise, description }: ChartTransition): string {
  const condition = guard ?? (isOtherwise ? 'otherwise' : undefined);
  return `${event}${condition === undefined ? '' : ` [${condition}]`}: ${description}`;
}
