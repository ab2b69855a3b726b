import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Rows that are drawn above and below the visible ones. */
const MARGIN_ROWS = 8;
const NARROW = '(width < 60rem)';

export interface VirtualRowsProps<T> {
  items: readonly T[];
  /** The height of each row, px: as a table row, and as a card on a narrow screen. */
  heights: { wide: number; narrow: number };
  columns: number;
  head: ComponentChildren;
  label: string;
  /** The class of the table. */
  kind: string;
  /** The position that must be visible, for the keyboard. */
  visibleIndex?: number | undefined;
  onRange?: (first: number, last: number) => void;
  row: (item: T, index: number) => ComponentChildren;
}

/** Whether rows are cards. */
export function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const media = matchMedia(NARROW);
    const changed = (): void => setNarrow(media.matches);
    media.addEventListener('change', changed);
    return () => media.removeEventListener('change', changed);
  }, []);
  return isNarrow;
}

/** A table that holds only the rows near the visible part of the page. All rows have the same height. */
export function VirtualRows<T>({
  items,
  heights,
  columns,
  head,
  label,
  kind,
  visibleIndex,
  onRange,
  row,
}: VirtualRowsProps<T>) {
  const isNarrow = useNarrow();
  const height = isNarrow ? heights.narrow : heights.wide;
  const body = useRef<HTMLTableSectionElement>(null);
  const [range, setRange] = useState({ first: 0, last: Math.ceil(innerHeight / height) + MARGIN_ROWS });

  const measure = (): void => {
    const top = body.current?.getBoundingClientRect().top ?? 0;
    const first = Math.max(0, Math.floor(-top / height) - MARGIN_ROWS);
    const last = Math.min(items.length, Math.ceil((innerHeight - top) / height) + MARGIN_ROWS);
    setRange((before) => (before.first === first && before.last === last ? before : { first, last }));
  };

  useLayoutEffect(measure, [items.length, height]);
  useEffect(() => {
    addEventListener('scroll', measure, { passive: true });
    addEventListener('resize', measure);
    return () => {
      removeEventListener('scroll', measure);
      removeEventListener('resize', measure);
    };
  });
  useEffect(() => {
    onRange?.(range.first, range.last);
  }, [range.first, range.last, items]);
  useEffect(() => {
    if (visibleIndex === undefined || visibleIndex < 0) return;
    const top = (body.current?.getBoundingClientRect().top ?? 0) + visibleIndex * height;
    const covered = (document.querySelector('.list-head')?.getBoundingClientRect().bottom ?? 0) + height;
    if (top < covered) scrollBy(0, top - covered);
    else if (top + height > innerHeight) scrollBy(0, top + 2 * height - innerHeight);
  }, [visibleIndex]);

  const first = Math.min(range.first, items.length);
  const last = Math.min(Math.max(range.last, first), items.length);
  return (
    <table class={`rows ${kind}`} aria-label={label} aria-rowcount={items.length + 1}>
      <thead>{head}</thead>
      <tbody ref={body}>
        {first > 0 && <Spacer height={first * height} columns={columns} />}
        {items.slice(first, last).map((item, offset) => row(item, first + offset))}
        {last < items.length && <Spacer height={(items.length - last) * height} columns={columns} />}
      </tbody>
    </table>
  );
}

function Spacer({ height, columns }: { height: number; columns: number }) {
  return (
    <tr class="rows-spacer" aria-hidden="true">
      <td colSpan={columns} style={{ height: `${height}px` }} />
    </tr>
  );
}
