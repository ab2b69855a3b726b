import type { ChartTransition } from '../../web/src/machines/chart.ts';
import type { ReadMachine } from './read-machine.ts';
import { labelOf, type TextBlock } from './text-lines.ts';

/** An arrow of a chart, without its place. */
export interface ChartEdge {
  id: string;
  source: string;
  target: string;
  /** Whether it leads away from the start: such arrows point in the direction of the chart. */
  isForward: boolean;
  transitions: ChartTransition[];
  /** Absent for an arrow to an initial state. */
  label: TextBlock | undefined;
}

/** The suffix of the dot in a compound state, from which an arrow points to the initial state. */
export const DOT = '#initial';

/** Returns one edge for all transitions between two states, and one from the dot to each initial state. */
export function edgesOf(read: ReadMachine): ChartEdge[] {
  const depths = depthsOf(read);
  const depthOf = (id: string): number => depths.get(id) ?? Infinity;
  const edges = new Map<string, ChartEdge>();
  for (const { id: source, initial: target } of read.states) {
    if (target === undefined) continue;
    const id = source + DOT;
    edges.set(id, { id, source, target, isForward: true, transitions: [], label: undefined });
  }
  for (const transition of read.transitions) {
    const { source, target } = transition;
    if (target === undefined) continue;
    const id = `${source}>${target}`;
    const transitions = [...(edges.get(id)?.transitions ?? []), transition];
    const isForward = depthOf(target) > depthOf(source);
    edges.set(id, { id, source, target, isForward, transitions, label: labelOf(transitions) });
  }
  return [...edges.values()];
}

/** The least number of steps from the start to each state. */
function depthsOf({ states, transitions }: ReadMachine): Map<string, number> {
  const depths = new Map<string, number>();
  const next = (ids: readonly string[]): string[] => {
    const inside = states.filter(({ id }) => ids.includes(id)).flatMap(({ initial }) => initial ?? []);
    const reached = transitions.filter(({ source }) => ids.includes(source)).flatMap(({ target }) => target ?? []);
    return [...inside, ...reached].filter((id) => !depths.has(id));
  };
  let ids = states.slice(0, 1).map(({ id }) => id);
  for (let depth = 0; ids.length > 0; depth += 1) {
    for (const id of ids) depths.set(id, depth);
    ids = next(ids);
  }
  return depths;
}
