/** What part of the graph is in sight: all of it when it is new, a node when it is wanted. */
import { useReactFlow, useStoreApi } from '@xyflow/react';
import { useCallback, useEffect, useMemo, useRef } from 'react';
import { type Graph, NODE_HEIGHT } from './graph';
import type { Layout, Point } from './layout/layout';

export const SMALLEST_ZOOM = 0.02;

interface Zooms {
  largest: number;
  /** Larger than this nothing is read any better. */
  ample: number;
  /** Smaller than this nothing can be read, so a first look shows the beginning instead of everything. */
  readable: number;
  /** The zoom of a look that shows a part. */
  close: number;
}

const AT_A_DESK: Zooms = { largest: 1.25, ample: 1, readable: 0.55, close: 0.75 };
/** From the last row of a room. */
const ON_A_STAGE: Zooms = { largest: 1.8, ample: 1.6, readable: 1.17, close: 1.2 };

function zooms(): Zooms {
  return document.documentElement.dataset.presenter === 'on' ? ON_A_STAGE : AT_A_DESK;
}
const MARGIN = 28;
/** At the top stands the bar that controls what runs, at the bottom the one that zooms; both need a little more. */
const HEAD = 64;
const FOOT = 52;
/** Longer than the motion itself: frames may be late. */
const FIT_MILLIS = 1_000;

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface View {
  fit: () => void;
  zoomTo: (zoom: number) => void;
  zoomBy: (factor: number) => void;
  reveal: (nodeId: string) => void;
  /** Keeps these nodes in sight, unless the user has taken hold of the view. */
  follow: (nodeIds: readonly string[]) => void;
  /** The user took hold of the view: from now on it stays where it is put. */
  held: () => void;
}

/** `occasion` names what is looked at; a new one is a reason to look afresh. */
export function useView(graph: Graph, layout: Layout, occasion: string): View {
  const flow = useReactFlow();
  const store = useStoreApi();
  const widths = useMemo(() => new Map(graph.nodes.map(({ node, width }) => [node.id, width])), [graph]);
  /** The layout and canvas size of the last look that nobody has changed since; null after the user moved the view. */
  const looked = useRef<string | null>('');
  /** The node the view was moved to; it stays in sight when the canvas gets another size. */
  const revealed = useRef<string | null>(null);
  /** Until when the view is on its way to where the user wants it: nothing else moves it meanwhile. */
  const underWay = useRef(0);

  const held = useCallback(() => {
    looked.current = null;
    revealed.current = null;
  }, []);

  const fit = useCallback(() => {
    const { width, height } = store.getState();
    looked.current = lookOf(layout, width, height);
    revealed.current = null;
    underWay.current = performance.now() + FIT_MILLIS;
    void flow.setViewport(fitted(boundsOf(layout, widths), width, height), { duration: motion(200) });
  }, [flow, store, layout, widths]);

  const reveal = useCallback(
    (nodeId: string) => {
      const at = layout.nodes.get(nodeId);
      const { width, height, transform } = store.getState();
      const box = { x: at?.x ?? 0, y: at?.y ?? 0, width: widths.get(nodeId) ?? 0, height: NODE_HEIGHT };
      if (!at || width === 0 || inSight(box, transform, width, height)) return;
      looked.current = lookOf(layout, width, height);
      revealed.current = nodeId;
      const zoom = Math.max(transform[2], zooms().readable);
      const view = within(followed(box, zoom, width, height), boundsOf(layout, widths), width, height);
      void flow.setViewport(view, { duration: motion(200) });
    },
    [flow, store, layout, widths],
  );

  const follow = useCallback(
    (nodeIds: readonly string[]) => {
      const { width, height, transform } = store.getState();
      const wanted = new Set(nodeIds);
      const places = new Map([...layout.nodes].filter(([id]) => wanted.has(id)));
      if (looked.current === null || revealed.current !== null || width === 0 || places.size === 0 || performance.now() < underWay.current) return;
      const box = boundsOf({ ...layout, nodes: places, edges: new Map() }, widths);
      if (inSight(box, transform, width, height)) return;
      const view = within(followed(box, transform[2], width, height), boundsOf(layout, widths), width, height);
      void flow.setViewport(view, { duration: motion(300) });
    },
    [flow, store, layout, widths],
  );

  const zoomTo = useCallback(
    (zoom: number) => {
      held();
      void flow.zoomTo(zoom, { duration: motion(120) });
    },
    [flow, held],
  );
  const zoomBy = useCallback((factor: number) => zoomTo(flow.getZoom() * factor), [flow, zoomTo]);

  useEffect(() => {
    // Another graph is looked at afresh, however the last one was left.
    looked.current = '';
    revealed.current = null;
  }, [layout.key, occasion]);
  useEffect(() => {
    // Also when the canvas learns its size or gets another one, such as when a panel is opened beside it.
    const look = (): void => {
      const { width, height } = store.getState();
      if (looked.current === null || width === 0 || looked.current === lookOf(layout, width, height)) return;
      looked.current = lookOf(layout, width, height);
      const first = firstLook(boundsOf(layout, widths), leftmost(layout), width, height);
      const kept = revealed.current;
      void flow.setViewport(first).then(() => {
        if (kept !== null) reveal(kept);
      });
    };
    look();
    return store.subscribe(look);
  }, [flow, store, layout, widths, occasion, reveal]);

  return useMemo(
    () => ({ fit, zoomTo, zoomBy, reveal, follow, held }),
    [fit, zoomTo, zoomBy, reveal, follow, held],
  );
}

function lookOf(layout: Layout, width: number, height: number): string {
  return `${width} ${height} ${layout.key}`;
}

function motion(millis: number): number {
  return window.matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : millis;
}

export function boundsOf(layout: Layout, widths: ReadonlyMap<string, number>): Box {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const [id, { x, y }] of layout.nodes) {
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x + (widths.get(id) ?? 0));
    bottom = Math.max(bottom, y + NODE_HEIGHT);
  }
  for (const { points } of layout.edges.values()) {
    for (const { x, y } of points) {
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y);
    }
  }
  return layout.nodes.size === 0
    ? { x: 0, y: 0, width: 0, height: 0 }
    : { x: left, y: top, width: right - left, height: bottom - top };
}

export function fitted(box: Box, width: number, height: number): { x: number; y: number; zoom: number } {
  const across = (width - 2 * MARGIN) / Math.max(box.width, 1);
  const down = (height - HEAD - FOOT) / Math.max(box.height, 1);
  const zoom = Math.min(Math.max(Math.min(across, down), SMALLEST_ZOOM), zooms().largest);
  return {
    zoom,
    x: (width - box.width * zoom) / 2 - box.x * zoom,
    y: HEAD + (height - HEAD - FOOT - box.height * zoom) / 2 - box.y * zoom,
  };
}

/** How well all of it can be read in this room: 1 is as well as can be. */
export function comfort(box: Box, width: number, height: number): number {
  return Math.min(fitted(box, width, height).zoom / zooms().ample, 1);
}

/** All of it where it can be read; else the beginning, which is where its first node stands. */
export function firstLook(box: Box, start: Point, width: number, height: number): { x: number; y: number; zoom: number } {
  const whole = fitted(box, width, height);
  const { readable, close: zoom } = zooms();
  if (whole.zoom >= readable) return whole;
  const tall = box.height * zoom > height - 2 * MARGIN;
  const middle = tall ? start.y + NODE_HEIGHT / 2 : box.y + box.height / 2;
  return { zoom, x: MARGIN - start.x * zoom, y: height / 2 - middle * zoom };
}

/** True when the graph is too large to be read as a whole. */
export function isTooLarge(box: Box, width: number, height: number): boolean {
  return width > 0 && fitted(box, width, height).zoom < zooms().readable;
}

/** The box in the middle; of a box that is wider than the view, its end, which is where things go on. */
export function followed(box: Box, zoom: number, width: number, height: number): { x: number; y: number; zoom: number } {
  const room = (width - 2 * MARGIN) / zoom;
  const across = box.width > room ? box.x + box.width - room / 2 : box.x + box.width / 2;
  return { zoom, x: width / 2 - across * zoom, y: height / 2 - (box.y + box.height / 2) * zoom };
}

/** Never more empty ground than there has to be: an edge of the graph stays at the edge of the view. */
export function within(view: { x: number; y: number; zoom: number }, bounds: Box, width: number, height: number): { x: number; y: number; zoom: number } {
  const { zoom } = view;
  return {
    zoom,
    x: held(view.x, bounds.x * zoom, bounds.width * zoom, width),
    y: held(view.y, bounds.y * zoom, bounds.height * zoom, height),
  };
}

function held(offset: number, start: number, length: number, room: number): number {
  if (length <= room - 2 * MARGIN) return (room - length) / 2 - start;
  return Math.min(Math.max(offset, room - MARGIN - start - length), MARGIN - start);
}

function leftmost(layout: Layout): Point {
  let start: Point | null = null;
  for (const point of layout.nodes.values()) {
    if (!start || point.x < start.x) start = point;
  }
  return start ?? { x: 0, y: 0 };
}

function inSight(box: Box, [x, y, zoom]: [number, number, number], width: number, height: number): boolean {
  const left = box.x * zoom + x;
  const top = box.y * zoom + y;
  return left >= 0 && top >= 0 && left + box.width * zoom <= width && top + box.height * zoom <= height;
}
