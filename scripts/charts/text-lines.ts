import type { ChartState, ChartTransition, PlacedLine } from '../../web/src/machines/chart.ts';

/** The width of a character, px: those of fixed-width fonts of these sizes are at most as wide. */
const CHARACTER_PX = { event: 7, guard: 6.4, action: 6.4 } as const;
/** The distance between two base lines, px. */
const LINE_PX = { event: 16, guard: 14, action: 14 } as const;
const INDENT_PX = 10;
const ASCENT_PX = 11;
/** The space above an event that is not the first one. */
const GAP_PX = 3;

export interface TextBlock {
  lines: PlacedLine[];
  width: number;
  height: number;
}

/** Places lines below each other, from the upper left corner at 0, 0. */
class Block {
  readonly #lines: PlacedLine[] = [];
  #width = 0;
  #height = 0;

  add(kind: PlacedLine['kind'], text: string, of: string[], isIndented: boolean): void {
    const x = isIndented ? INDENT_PX : 0;
    if (kind === 'event' && this.#lines.length > 0) this.#height += GAP_PX;
    this.#lines.push({ kind, text, x, y: this.#height + ASCENT_PX, of });
    this.#width = Math.max(this.#width, x + text.length * CHARACTER_PX[kind]);
    this.#height += LINE_PX[kind];
  }

  get block(): TextBlock {
    return { lines: this.#lines, width: Math.ceil(this.#width), height: this.#height };
  }
}

/** The label of an arrow: each event once, and below it the guards of its transitions. */
export function labelOf(transitions: readonly ChartTransition[]): TextBlock {
  const block = new Block();
  for (const [event, ofEvent] of byEvent(transitions)) {
    block.add('event', event, idsOf(ofEvent), false);
    for (const transition of ofEvent) addGuard(block, transition);
  }
  return block.block;
}

/** The texts in the box of a state: the actions on entry and exit, and the transitions that do not leave the state. */
export function contentsOf({ entry, exit }: ChartState, inner: readonly ChartTransition[]): TextBlock {
  const block = new Block();
  if (entry.length > 0) block.add('action', `entry / ${entry.join(', ')}`, [], false);
  if (exit.length > 0) block.add('action', `exit / ${exit.join(', ')}`, [], false);
  for (const [event, ofEvent] of byEvent(inner)) {
    block.add('event', event, idsOf(ofEvent), false);
    for (const transition of ofEvent) {
      addGuard(block, transition);
      const { actions, id } = transition;
      if (actions.length > 0) block.add('action', `/ ${actions.join(', ')}`, [id], true);
    }
  }
  return block.block;
}

/** The width of the name of a state, px. */
export const nameWidth = (name: string): number => Math.ceil(name.length * 8.2);

function addGuard(block: Block, { id, guard, isOtherwise }: ChartTransition): void {
  if (guard !== undefined) block.add('guard', `[${guard}]`, [id], true);
  else if (isOtherwise) block.add('guard', '[otherwise]', [id], true);
}

const idsOf = (transitions: readonly ChartTransition[]): string[] => transitions.map(({ id }) => id);

function byEvent(transitions: readonly ChartTransition[]): Map<string, ChartTransition[]> {
  const grouped = new Map<string, ChartTransition[]>();
  for (const transition of transitions) {
    grouped.set(transition.event, [...(grouped.get(transition.event) ?? []), transition]);
  }
  return grouped;
}
