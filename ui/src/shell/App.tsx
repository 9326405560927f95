/** Puts the features in their places; none of them knows the others. */
import { type ReactElement, type ReactNode, useCallback, useState } from 'react';
import { Canvas } from '../canvas/Canvas';
import { AttachButton } from '../cluster/AttachButton';
import { AttachDialog } from '../cluster/AttachDialog';
import { LiveBanner } from '../cluster/LiveBanner';
import { CompareBar } from '../compare/CompareBar';
import { ControlBar } from '../control/ControlBar';
import { RightPanel } from '../control/RightPanel';
import { useControlKeys } from '../control/useControlKeys';
import { Explain } from '../explain/Explain';
import { Family } from '../fork/Family';
import { ForkDialog } from '../fork/ForkDialog';
import { Gallery } from '../gallery/Gallery';
import { Palette } from '../palette/Palette';
import { Inspector } from '../inspector/Inspector';
import { Library } from '../library/Library';
import { RecentFiles } from '../recent/RecentFiles';
import { TopBar } from '../run/TopBar';
import { Splitter } from '../shared/Splitter';
import { Ahead } from '../shared/useNow';
import { usePanelSize } from '../state/panels';
import { PANEL_LIMITS, type Panel } from '../state/preferences';
import { useFollowComparison } from '../state/compare';
import { useFollowControl } from '../state/control';
import { useFollowItem } from '../state/item';
import { usePlayback } from '../state/playback';
import { shownAhead } from '../state/selectors';
import { resizePanel, useStore } from '../state/store';
import { BottomPanel, bottomTabs } from './BottomPanel';
import { ChangedBanner } from './ChangedBanner';
import { FullPage } from './FullPage';
import { KeysHelp } from './KeysHelp';
import { Toasts } from './Toasts';
import { UnkeptBanner } from './UnkeptBanner';
import { useDrop } from './useDrop';
import { useFocusKept } from './useFocusKept';
import { useGlobalKeys } from './useGlobalKeys';
import { useTheme } from './useTheme';
import { useTitle } from './useTitle';
import './shell.css';

export function App(): ReactElement {
  const [help, setHelp] = useState(false);
  const [palette, setPalette] = useState(false);
  const onHelp = useCallback(() => setHelp(true), []);
  const onPalette = useCallback(() => setPalette(true), []);
  const dropping = useDrop();
  useTheme();
  useTitle();
  useFollowItem();
  useFollowComparison();
  usePlayback();
  useFollowControl();
  useControlKeys();
  useGlobalKeys(onHelp, onPalette);
  useFocusKept();
  return (
    <div className="shell">
      <TopBar onHelp={onHelp} onPalette={onPalette} />
      <LiveBanner />
      <UnkeptBanner />
      <FullPage>
        <Panels />
      </FullPage>
      <Toasts />
      <AttachDialog />
      {help && <KeysHelp onClose={() => setHelp(false)} />}
      {palette && <Palette onClose={() => setPalette(false)} onHelp={onHelp} />}
      <ForkDialog />
      {dropping && <div className="shell-drop">Drop the recording to open it</div>}
    </div>
  );
}

const why = (nodeId: string | null, lineageKey: string | null): ReactElement => <Explain nodeId={nodeId} lineageKey={lineageKey} />;

function Panels(): ReactElement {
  const { left, right, bottom } = useStore((state) => state.preferences.panels);
  const hasBottom = useStore((state) => bottomTabs(state) !== '');
  const nothing = useStore((state) => state.open.type === 'nothing');
  const ahead = useStore(shownAhead);
  return (
    <div className="panels">
      {left.shown && (
        <>
          <SizedPanel panel="left">
            <Library foot={<AttachButton />} />
          </SizedPanel>
          <PanelSplitter panel="left" side="right" label="Width of the library" />
        </>
      )}
      <main className="panel-centre">
        <ChangedBanner />
        <CompareBar />
        {nothing ? (
          <Gallery recent={<RecentFiles />} />
        ) : (
          <div className="centre-stage">
            <ControlBar />
            <Ahead value={ahead}>
              <Canvas />
            </Ahead>
          </div>
        )}
        {bottom.shown && hasBottom && (
          <>
            <PanelSplitter panel="bottom" side="top" label="Height of the bottom panel" />
            <SizedPanel panel="bottom">
              <BottomPanel />
            </SizedPanel>
          </>
        )}
      </main>
      {right.shown && !nothing && (
        <>
          <PanelSplitter panel="right" side="left" label="Width of the inspector" />
          <SizedPanel panel="right">
            <RightPanel>
              <Ahead value={ahead}>
                <Inspector why={why} family={<Family />} />
              </Ahead>
            </RightPanel>
          </SizedPanel>
        </>
      )}
    </div>
  );
}

/** Listens for its own size, so that dragging its edge draws nothing else again. */
function SizedPanel({ panel, children }: { panel: Panel; children: ReactNode }): ReactElement {
  const size = usePanelSize(panel, useStore((state) => state.preferences.panels[panel]));
  return (
    <div className="panel" style={{ [panel === 'bottom' ? 'height' : 'width']: size }}>
      {children}
    </div>
  );
}

function PanelSplitter({ panel, side, label }: { panel: Panel; side: 'left' | 'right' | 'top'; label: string }): ReactElement {
  const size = usePanelSize(panel, useStore((state) => state.preferences.panels[panel]));
  return (
    <Splitter
      label={label}
      side={side}
      size={size}
      min={PANEL_LIMITS[panel].min}
      max={PANEL_LIMITS[panel].max}
      onResize={(next) => resizePanel(panel, next)}
    />
  );
}
