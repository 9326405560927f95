import { render, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { useStore } from '../state/store';
import { cluster } from '../testing/fixtures';
import { ModeChip } from './ModeChip';

describe('ModeChip', () => {
  it.each([
    ['desktop', '', 'LOCAL'],
    ['web', '', 'LOCAL · web'],
    ['replay', 'Hello', 'REPLAY (Hello)'],
  ] as const)('of %s says so', (mode, title, text) => {
    useStore.setState({ host: { mode, title, readOnly: mode === 'replay' } });
    render(<ModeChip />);
    expect(screen.getByTestId('mode-chip').textContent).toBe(text);
  });

  it('says where executions run that are only watched here', () => {
    useStore.setState({ host: { mode: 'web', title: '', readOnly: false }, runsOn: 'cluster' });
    render(<ModeChip />);
    expect(screen.getByTestId('mode-chip').textContent).toBe('CLUSTER · live');
  });

  it('says LIVE while a cluster is attached', () => {
    useStore.setState({ cluster: cluster() });
    render(<ModeChip />);
    expect(screen.getByTestId('mode-chip').textContent).toBe('LIVE · read only');
    useStore.setState({ cluster: null });
  });

  it('tells of a lost connection', () => {
    useStore.setState({ connection: { type: 'reconnecting', problem: { code: 'infrastructure', message: '', hint: '' } } });
    render(<ModeChip />);
    expect(screen.getByRole('status').textContent).toBe('Reconnecting…');
  });
});
