import { act, render, screen } from '@testing-library/react';
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
    act(() => useStore.setState({ cluster: cluster({ ended: 5_000 }) }));
    expect(screen.getByTestId('mode-chip').textContent).toBe('NOT LIVE');
    // Nor does its dot look as if everything were well.
    expect(document.querySelector('.mode-dot-live')).toBeNull();
    act(() => useStore.setState({ cluster: cluster({ redis_as_of: 5_000 }) }));
    expect(screen.getByTestId('mode-chip').textContent).toBe('NOT LIVE');
    act(() => useStore.setState({ cluster: null }));
  });

  it('tells of a lost connection', () => {
    useStore.setState({ connection: { type: 'reconnecting', problem: { code: 'infrastructure', message: '', hint: '' } } });
    render(<ModeChip />);
    expect(screen.getByRole('status').textContent).toBe('Reconnecting…');
  });
});
