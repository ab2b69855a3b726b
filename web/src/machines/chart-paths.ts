import type { PlacedEdge } from './chart.ts';

type Point = PlacedEdge['points'][number];

const CORNER_PX = 7;
const HEAD_PX = 8;
const HALF_HEAD_PX = 4.2;

/** The path of an arrow with round corners. It ends where the head begins. */
export function pathOf(points: readonly Point[]): string {
  const ends = [...points.slice(0, -1), beforeHead(points)];
  const [[x, y] = [0, 0], ...rest] = ends;
  const parts = [`M${x} ${y}`];
  rest.forEach((point, index) => {
    const next = rest[index + 1];
    const previous = ends[index] ?? point;
    if (next === undefined) {
      parts.push(`L${point[0]} ${point[1]}`);
      return;
    }
    const radius = Math.min(CORNER_PX, distance(previous, point) / 2, distance(point, next) / 2);
    const [fromX, fromY] = towards(point, previous, radius);
    const [toX, toY] = towards(point, next, radius);
    parts.push(`L${fromX} ${fromY}Q${point[0]} ${point[1]} ${toX} ${toY}`);
  });
  return parts.join('');
}

/** The three corners of the head of an arrow. */
export function headOf(points: readonly Point[]): string {
  const end = points.at(-1) ?? [0, 0];
  const base = beforeHead(points);
  const length = distance(base, end) || 1;
  const acrossX = ((end[1] - base[1]) / length) * HALF_HEAD_PX;
  const acrossY = ((base[0] - end[0]) / length) * HALF_HEAD_PX;
  const corners = [end, [base[0] + acrossX, base[1] + acrossY], [base[0] - acrossX, base[1] - acrossY]];
  return corners.map((corner) => corner.map(rounded).join(',')).join(' ');
}

function beforeHead(points: readonly Point[]): Point {
  const end = points.at(-1) ?? [0, 0];
  return towards(end, points.at(-2) ?? end, HEAD_PX);
}

const distance = ([x1, y1]: Point, [x2, y2]: Point): number => Math.hypot(x2 - x1, y2 - y1);

/** The point at `px` from `from` on the way to `to`. */
function towards(from: Point, to: Point, px: number): Point {
  const length = distance(from, to);
  const part = length === 0 ? 0 : Math.min(1, px / length);
  return [rounded(from[0] + (to[0] - from[0]) * part), rounded(from[1] + (to[1] - from[1]) * part)];
}

const rounded = (px: number): number => Math.round(px * 100) / 100;
