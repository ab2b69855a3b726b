import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Box } from './chart.ts';

const ZOOM_STEP = 1.3;
const PAN_STEP = 0.12;
/** The largest and the smallest visible part, as a fraction of the chart. */
const MAX_PART = 1.15;
const MIN_PART = 0.08;

export interface PanZoom {
  view: Box;
  zoom: (factor: number) => void;
  show: (box: Box) => void;
  /** The handlers of the element around the chart. */
  handlers: {
    onKeyDown: (event: KeyboardEvent) => void;
    onPointerDown: (event: PointerEvent) => void;
    onPointerMove: (event: PointerEvent) => void;
    onPointerUp: (event: PointerEvent) => void;
    onPointerCancel: (event: PointerEvent) => void;
  };
}

interface Point {
  x: number;
  y: number;
}

/** Moves and scales the visible part of a chart by keys, pointers, touches and the wheel with Ctrl. `whole` is all of it. */
export function usePanZoom(whole: Box, element: RefObject<HTMLElement | null>): PanZoom {
  const [view, setView] = useState(whole);
  const current = useRef(view);
  const pointers = useRef(new Map<number, Point>());
  const actions = useMemo(() => {
    const show = (box: Box): void => {
      current.current = box;
      setView(box);
    };
    /** Scales around a point, which is given in parts of the visible part. */
    const zoom = (factor: number, at: Point = { x: 0.5, y: 0.5 }): void => {
      const { x, y, width, height } = current.current;
      const part = Math.min(MAX_PART, Math.max(MIN_PART, width / whole.width / factor));
      const scale = (part * whole.width) / width;
      show({
        x: x + width * (1 - scale) * at.x,
        y: y + height * (1 - scale) * at.y,
        width: width * scale,
        height: height * scale,
      });
    };
    const pan = (byX: number, byY: number): void => {
      const { x, y, width, height } = current.current;
      const within = (at: number, size: number, limit: number): number =>
        Math.min(Math.max(at, -size / 2), limit - size / 2);
      show({ x: within(x + byX, width, whole.width), y: within(y + byY, height, whole.height), width, height });
    };
    return { show, zoom, pan };
  }, [whole.width, whole.height]);
  const { show, zoom, pan } = actions;
  useEffect(() => {
    show(whole);
  }, [whole.width, whole.height]);
  useEffect(() => {
    const onWheel = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const box = element.current?.getBoundingClientRect();
      if (box === undefined) return;
      zoom(Math.exp(-event.deltaY / 300), partOf(box, event));
    };
    const target = element.current;
    target?.addEventListener('wheel', onWheel, { passive: false });
    return () => target?.removeEventListener('wheel', onWheel);
  }, [zoom]);

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { width, height } = current.current;
    const keys: Record<string, () => void> = {
      '+': () => zoom(ZOOM_STEP),
      '=': () => zoom(ZOOM_STEP),
      '-': () => zoom(1 / ZOOM_STEP),
      '0': () => show(whole),
      ArrowLeft: () => pan(-width * PAN_STEP, 0),
      ArrowRight: () => pan(width * PAN_STEP, 0),
      ArrowUp: () => pan(0, -height * PAN_STEP),
      ArrowDown: () => pan(0, height * PAN_STEP),
    };
    const action = keys[event.key];
    if (action === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  };
  const onPointerDown = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    pointers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
    if (event.pointerType === 'mouse') element.current?.setPointerCapture(event.pointerId);
  };
  const onPointerMove = (event: PointerEvent): void => {
    const before = pointers.current.get(event.pointerId);
    const box = element.current?.getBoundingClientRect();
    if (before === undefined || box === undefined) return;
    const now = { x: event.clientX, y: event.clientY };
    const [other] = [...pointers.current].filter(([id]) => id !== event.pointerId).map(([, point]) => point);
    pointers.current.set(event.pointerId, now);
    if (other !== undefined) {
      zoom(apart(now, other) / (apart(before, other) || 1), partOf(box, { clientX: other.x, clientY: other.y }));
      return;
    }
    const pxPerUnit = Math.min(box.width / current.current.width, box.height / current.current.height);
    pan((before.x - now.x) / pxPerUnit, (before.y - now.y) / pxPerUnit);
  };
  const onPointerUp = ({ pointerId }: PointerEvent): void => void pointers.current.delete(pointerId);
  const handlers = { onKeyDown, onPointerDown, onPointerMove, onPointerUp, onPointerCancel: onPointerUp };
  return { view, zoom, show, handlers };
}

const apart = (one: Point, other: Point): number => Math.hypot(one.x - other.x, one.y - other.y);

const partOf = (box: DOMRect, { clientX, clientY }: { clientX: number; clientY: number }): Point => ({
  x: (clientX - box.left) / box.width,
  y: (clientY - box.top) / box.height,
});
