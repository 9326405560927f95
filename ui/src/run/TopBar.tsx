/** The top: where we are, what is open, and the actions that are possible here. */
import type { ReactElement } from 'react';
import { IconButton } from '../shared/Button';
import { PanelToggles } from './PanelToggles';
import { RecordingControls } from './RecordingControls';
import { RunControls } from './RunControls';
import { PresenterToggle } from './PresenterToggle';
import { ThemeToggle } from './ThemeToggle';
import { ModeChip } from './ModeChip';
import { OpenTitle } from './OpenTitle';
import './run.css';

interface Props {
  onHelp: () => void;
  onPalette: () => void;
}

export function TopBar({ onHelp, onPalette }: Props): ReactElement {
  return (
    <header className="top-bar" role="banner">
      <div className="top-brand">
        <img src="./icon.svg" alt="" width={22} height={22} />
        <span className="top-name">Runeglass</span>
        <ModeChip />
      </div>
      <OpenTitle />
      <div className="top-actions">
        <RunControls />
        <RecordingControls />
        <span className="top-gap" />
        <IconButton icon="search" label="Go to anything (Ctrl+K)" data-testid="open-palette" onClick={onPalette} />
        <span className="top-gap" />
        <PanelToggles />
        <span className="top-gap" />
        <PresenterToggle />
        <ThemeToggle />
        <IconButton icon="help" label="Keys (?)" onClick={onHelp} />
      </div>
    </header>
  );
}
