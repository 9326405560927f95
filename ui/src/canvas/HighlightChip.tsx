import type { ReactElement } from 'react';
import { IconButton } from '../shared/Button';
import { Icon } from '../shared/icons';
import { showHighlight } from '../state/highlight';
import { useStore } from '../state/store';

/** Says what stands out in the graph, and lets go of it. */
export function HighlightChip(): ReactElement | null {
  const highlight = useStore((state) => state.highlight);
  const item = useStore((state) => state.item !== null);
  if (!highlight || item) return null;
  return (
    <div className="item-chip" role="status" data-testid="highlight-chip">
      <Icon name="route" />
      <span>{highlight.label}</span>
      <IconButton icon="close" label="Let go of it (Esc)" onClick={() => showHighlight(null)} />
    </div>
  );
}
