import type { ReactElement } from 'react';
import { IconButton } from '../shared/Button';
import type { IconName } from '../shared/icons';
import type { Panel } from '../state/preferences';
import { togglePanel, useStore } from '../state/store';

const PANELS: { panel: Panel; icon: IconName; label: string }[] = [
  { panel: 'left', icon: 'left', label: 'Library (Ctrl+B)' },
  { panel: 'bottom', icon: 'bottom', label: 'Bottom panel (Ctrl+J)' },
  { panel: 'right', icon: 'inspector', label: 'Inspector (Ctrl+I)' },
];

export function PanelToggles(): ReactElement {
  const panels = useStore((state) => state.preferences.panels);
  return (
    <span className="panel-toggles" role="group" aria-label="Panels">
      {PANELS.map(({ panel, icon, label }) => (
        <IconButton
          key={panel}
          icon={icon}
          label={label}
          aria-pressed={panels[panel].shown}
          onClick={() => togglePanel(panel)}
        />
      ))}
    </span>
  );
}
