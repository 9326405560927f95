import { act, render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { useStore } from '../state/store';
import { cluster, summary, view } from '../testing/fixtures';
import { LeftChip } from './LeftChip';

it('says of which moment a graph is that nobody sees any more', () => {
  const at = new Date(2026, 0, 1, 2, 58, 11).getTime();
  const observed = { cluster: 'production', dialect: 'rune' as const, joined_late: false, gaps: [] };
  const open = (phase: 'running' | 'completed') => ({ type: 'execution' as const, executionId: 'x1', view: view({ summary: summary({ phase, observed }) }) });
  useStore.setState({ open: open('running'), cluster: cluster({ dialect: 'rune' }) });
  render(<LeftChip />);
  expect(screen.queryByTestId('left-chip')).toBeNull();
  act(() => useStore.setState({ cluster: cluster({ dialect: 'rune', queues_as_of: at }) }));
  expect(screen.getByTestId('left-chip').textContent).toBe('As it was seen last, at 02:58:11');
  // Who is not looked into any more, and nobody has said since when.
  act(() => useStore.setState({ cluster: null }));
  expect(screen.getByTestId('left-chip').textContent).toBe('As it was seen last');
  // What was over then is over.
  act(() => useStore.setState({ open: open('completed') }));
  expect(screen.queryByTestId('left-chip')).toBeNull();
});
