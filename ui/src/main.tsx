import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { chooseBridge } from './bridge/choose';
import './shared/theme.css';
import './shared/base.css';
import { App } from './shell/App';
import './shared/forced.css';
import { applyPresenter, applyTheme } from './shell/useTheme';
import { connect } from './state/actions';
import { openAsked } from './state/files';
import { useStore } from './state/store';

const root = document.getElementById('root');
if (!root) throw new Error('The page has no root element.');

// Before the first picture, so that a dark page does not flash.
applyTheme(useStore.getState().preferences.theme);
applyPresenter(useStore.getState().preferences.presenter);
connect(chooseBridge());
void openAsked();
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
