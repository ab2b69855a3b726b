/**
 * A state machine, and the places of its parts in two layouts. `npm run charts` computes them from the definition of the machine.
 * Ids of states are those of XState: the id of the machine and the names of the states, separated by dots.
 */
export interface Chart {
  /** The kind name in the ledger and in session ids. */
  machine: string;
  id: string;
  version: string;
  description: string;
  /** Outer states before the states in them. The first one is the machine itself. */
  states: ChartState[];
  transitions: ChartTransition[];
  layouts: Record<LayoutName, Layout>;
}

/** `wide` reads from left to right, `tall` from top to bottom; `small` reads from left to right and has only the names of states. */
export type LayoutName = 'wide' | 'tall' | 'small';

export interface ChartState {
  id: string;
  name: string;
  /** The state around it; absent for the machine itself. */
  parent?: string;
  type: 'atomic' | 'compound' | 'final';
  description: string;
  /** The initial state in a compound state. */
  initial?: string;
  entry: string[];
  exit: string[];
}

export interface ChartTransition {
  /** `<state>|<event>|<index>`; the index is that among the candidates of this event, which are tried in this order. */
  id: string;
  source: string;
  /** Absent for a transition that does not leave the state. */
  target?: string;
  event: string;
  guard?: string;
  /** Whether an earlier candidate has a guard and this one has none. */
  isOtherwise: boolean;
  actions: string[];
  description: string;
}

/** Places, in px. */
export interface Layout {
  width: number;
  height: number;
  /** By id. */
  states: Record<string, PlacedState>;
  edges: PlacedEdge[];
}

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface PlacedState extends Box {
  /** The height of the name and the texts. */
  headHeight: number;
  /** Texts below the name: actions on entry and exit, and the transitions that do not leave the state. */
  lines: PlacedLine[];
}

/** A line of text, and the transitions that it stands for. Its place is that of the left end of the base line. */
export interface PlacedLine {
  kind: 'event' | 'guard' | 'action';
  text: string;
  x: number;
  y: number;
  /** Ids of transitions. */
  of: string[];
}

/** All transitions from one state to another, drawn as one arrow; or the arrow from a dot to an initial state. */
export interface PlacedEdge {
  id: string;
  source: string;
  target: string;
  /** Ids of transitions; none for an arrow to an initial state. */
  of: string[];
  points: [x: number, y: number][];
  /** Absent for an arrow to an initial state. */
  label?: Box;
  lines: PlacedLine[];
}
