import ElkConstructor, { type ElkExtendedEdge, type ElkNode } from 'elkjs/lib/elk.bundled.js';
import type {
  ChartState,
  Layout,
  LayoutName,
  PlacedEdge,
  PlacedLine,
  PlacedState,
} from '../../web/src/machines/chart.ts';
import { type ChartEdge, DOT, edgesOf } from './chart-edges.ts';
import type { ReadMachine } from './read-machine.ts';
import { contentsOf, nameWidth, type TextBlock } from './text-lines.ts';

/** elkjs declares an ES module, and is a CommonJS one. */
const Elk = ElkConstructor as unknown as typeof ElkConstructor.default;

const NAME_PX = 30;
const PADDING_PX = 12;
const MIN_WIDTH_PX = 84;
const LABEL_PADDING_PX = 4;
const DOT_PX = 9;
/** So that the border of the machine is inside of the picture. */
const MARGIN_PX = 1;
const DIRECTIONS = { wide: 'RIGHT', tall: 'DOWN', small: 'RIGHT' } as const;
const NO_TEXTS: TextBlock = { lines: [], width: 0, height: 0 };

const OPTIONS: Readonly<Record<string, string>> = {
  'elk.algorithm': 'layered',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.json.edgeCoords': 'ROOT',
  'elk.json.shapeCoords': 'ROOT',
  'elk.layered.cycleBreaking.strategy': 'GREEDY',
  'elk.layered.nodePlacement.strategy': 'BRANDES_KOEPF',
  'elk.layered.nodePlacement.bk.fixedAlignment': 'BALANCED',
  'elk.layered.spacing.edgeNodeBetweenLayers': '16',
  'elk.layered.spacing.nodeNodeBetweenLayers': '28',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '12',
  'elk.spacing.nodeNode': '28',
  'elk.spacing.edgeNode': '18',
  'elk.spacing.edgeEdge': '14',
  'elk.spacing.edgeLabel': '4',
  'elk.spacing.nodeSelfLoop': '16',
};

/** A machine and the texts in the boxes of its states. */
interface Subject {
  read: ReadMachine;
  contents: ReadonlyMap<string, TextBlock>;
  direction: string;
}

/** Computes the places of the parts of a machine. */
export async function layOut(read: ReadMachine, kind: LayoutName): Promise<Layout> {
  const hasTexts = kind !== 'small';
  const textsOf = (state: ChartState): TextBlock => (hasTexts ? contentsOf(state, innerOf(read, state.id)) : NO_TEXTS);
  const contents = new Map(read.states.map((state) => [state.id, textsOf(state)]));
  const subject = { read, contents, direction: DIRECTIONS[kind] };
  const edges = edgesOf(read).map((edge) => (hasTexts ? edge : { ...edge, label: undefined }));
  const [machine] = read.states;
  if (machine === undefined) throw new Error('a machine without a state has no layout');
  const placed = await new Elk().layout({
    id: '#',
    layoutOptions: optionsFor(subject),
    children: [nodeOf(machine, subject)],
    edges: edges.map(elkEdge),
  });
  const [{ x = 0, y = 0, width = 0, height = 0 } = {}] = placed.children ?? [];
  const places = { nodes: byId(allNodes(placed)), edges: byId(allEdges(placed)), x: MARGIN_PX - x, y: MARGIN_PX - y };
  return {
    width: Math.ceil(width + 2 * MARGIN_PX),
    height: Math.ceil(height + 2 * MARGIN_PX),
    states: Object.fromEntries(read.states.map((state) => [state.id, stateIn(places, state, contents)])),
    edges: edges.map((edge) => edgeIn(places, edge)),
  };
}

const innerOf = ({ transitions }: ReadMachine, id: string) =>
  transitions.filter(({ source, target }) => source === id && target === undefined);

const optionsFor = ({ direction }: Subject): Record<string, string> => ({ ...OPTIONS, 'elk.direction': direction });

function headHeightOf({ lines, height }: TextBlock): number {
  return NAME_PX + (lines.length === 0 ? 0 : height + 8);
}

function nodeOf(state: ChartState, subject: Subject): ElkNode {
  const { id, name } = state;
  const { read, contents } = subject;
  const texts = contents.get(id) ?? NO_TEXTS;
  const width = Math.max(Math.max(nameWidth(name), texts.width) + 2 * PADDING_PX, MIN_WIDTH_PX);
  const headHeight = headHeightOf(texts);
  const children = read.states.filter(({ parent }) => parent === id);
  if (children.length === 0) return { id, width, height: headHeight };
  return {
    id,
    layoutOptions: {
      ...optionsFor(subject),
      'elk.padding': `[top=${headHeight + 14},left=18,bottom=18,right=18]`,
      'elk.nodeSize.constraints': 'MINIMUM_SIZE',
      'elk.nodeSize.minimum': `(${width},0)`,
    },
    children: [{ id: id + DOT, width: DOT_PX, height: DOT_PX }, ...children.map((child) => nodeOf(child, subject))],
  };
}

function elkEdge({ id, source, target, isForward, transitions, label }: ChartEdge): ElkExtendedEdge {
  const sources = [transitions.length === 0 ? source + DOT : source];
  const edge = { id, sources, targets: [target] };
  const layoutOptions = isForward ? { 'elk.layered.priority.direction': '10' } : {};
  if (label === undefined) return { ...edge, layoutOptions };
  const width = label.width + 2 * LABEL_PADDING_PX;
  const height = label.height + LABEL_PADDING_PX;
  const inline = { 'elk.edgeLabels.placement': 'CENTER', 'elk.edgeLabels.inline': 'true' };
  return { ...edge, layoutOptions, labels: [{ text: id, width, height, layoutOptions: inline }] };
}

const allNodes = (node: ElkNode): ElkNode[] => [node, ...(node.children ?? []).flatMap(allNodes)];
const allEdges = (node: ElkNode): ElkExtendedEdge[] => [
  ...(node.edges ?? []),
  ...(node.children ?? []).flatMap(allEdges),
];
const byId = <T extends { id: string }>(items: readonly T[]): Map<string, T> =>
  new Map(items.map((item) => [item.id, item]));

/** What ELK placed, and how far it is moved. */
interface Places {
  nodes: ReadonlyMap<string, ElkNode>;
  edges: ReadonlyMap<string, ElkExtendedEdge>;
  x: number;
  y: number;
}

const rounded = (px: number): number => Math.round(px * 2) / 2;

const moved = (lines: readonly PlacedLine[], byX: number, byY: number): PlacedLine[] =>
  lines.map((line) => ({ ...line, x: rounded(line.x + byX), y: rounded(line.y + byY) }));

function stateIn(places: Places, { id }: ChartState, contents: Subject['contents']): PlacedState {
  const node = places.nodes.get(id);
  const texts = contents.get(id);
  if (node === undefined || texts === undefined) throw new Error(`the state ${id} has no place`);
  const { x: left = 0, y: top = 0, width = 0, height = 0 } = node;
  const [x, y] = [rounded(left + places.x), rounded(top + places.y)];
  const lines = moved(texts.lines, x + PADDING_PX, y + NAME_PX + 2);
  return { x, y, width: rounded(width), height: rounded(height), headHeight: headHeightOf(texts), lines };
}

function edgeIn(places: Places, { id, source, target, transitions, label }: ChartEdge): PlacedEdge {
  const placed = places.edges.get(id);
  const [section, ...others] = placed?.sections ?? [];
  if (section === undefined || others.length > 0) throw new Error(`the arrow ${id} has no place`);
  const { startPoint, bendPoints = [], endPoint } = section;
  const at = (x: number, y: number): [number, number] => [rounded(x + places.x), rounded(y + places.y)];
  const points = [startPoint, ...bendPoints, endPoint].map(({ x, y }) => at(x, y));
  const edge = { id, source, target, of: transitions.map(({ id: of }) => of), points, lines: [] };
  if (label === undefined) return edge;
  const { x: left = 0, y: top = 0, width = 0, height = 0 } = placed?.labels?.[0] ?? {};
  const [x, y] = at(left, top);
  const box = { x, y, width: rounded(width), height: rounded(height) };
  return { ...edge, label: box, lines: moved(label.lines, x + LABEL_PADDING_PX, y + LABEL_PADDING_PX / 2) };
}
