import { type RefObject, useEffect, useLayoutEffect, useState } from 'react';
import type { Graph } from '../graph';
import { bestIn } from './best';
import { cachedLayouts, layoutsOf } from './elk';
import type { Layout } from './layout';

/** The one that is read best in this width; null while it is being worked out. */
export function useLayout(graph: Graph | null, width: number): Layout | null {
  const [latest, setLatest] = useState<{ key: string; layouts: readonly Layout[] } | null>(null);

  useEffect(() => {
    if (!graph || cachedLayouts(graph.key)) return undefined;
    let wanted = true;
    void layoutsOf(graph).then((layouts) => {
      if (wanted) setLatest({ key: graph.key, layouts });
    });
    return () => {
      wanted = false;
    };
  }, [graph]);

  if (!graph) return null;
  const layouts = cachedLayouts(graph.key) ?? (latest?.key === graph.key ? latest.layouts : null);
  return layouts && bestIn(layouts, graph, width);
}

/** How wide an element is; 0 until it is drawn. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  // Before anything is painted, so that no graph is seen to be arranged twice.
  useLayoutEffect(() => {
    const { current } = element;
    if (!current) return undefined;
    const look = (): void => setWidth(current.clientWidth);
    const observer = new ResizeObserver(look);
    observer.observe(current);
    look();
    return () => observer.disconnect();
  }, [element]);
  return width;
}
