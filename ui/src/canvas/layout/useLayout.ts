import { useEffect, useState } from 'react';
import type { Graph } from '../graph';
import { cachedLayout, layoutOf } from './elk';
import type { Layout } from './layout';

/** Null while the layout is being worked out. */
export function useLayout(graph: Graph | null): Layout | null {
  const [latest, setLatest] = useState<Layout | null>(null);

  useEffect(() => {
    if (!graph || cachedLayout(graph.key)) return undefined;
    let wanted = true;
    void layoutOf(graph).then((layout) => {
      if (wanted) setLatest(layout);
    });
    return () => {
      wanted = false;
    };
  }, [graph]);

  if (!graph) return null;
  return cachedLayout(graph.key) ?? (latest?.key === graph.key ? latest : null);
}
