import { act, render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { useStore } from '../state/store';
import { cluster, summary, view } from '../testing/fixtures';
import { OpenTitle } from './OpenTitle';

it('does not let run on what nobody looks at any more', () => {
  const observed = { cluster: 'production', dialect: 'runeglass' as const, joined_late: false, gaps: [] };
  const open = (gaps: { from: number; until: null; dropped: number; why: string }[]) => {
    const shown = view({ summary: summary({ started_at: 0, observed: { ...observed, gaps } }) });
    return { open: { type: 'execution' as const, executionId: 'x1', view: shown } };
  };
  useStore.setState({ ...open([]), cluster: cluster() });
  render(<OpenTitle />);
  const phase = screen.getByTestId('execution-phase');
  expect(phase.textContent).toMatch(/^Running\d+ d/);
  act(() => useStore.setState({ cluster: cluster({ ended: 90_000 }) }));
  expect(phase.textContent).toBe('Last seen running1 min 30 s');
  act(() => useStore.setState({ ...open([{ from: 30_000, until: null, dropped: 0, why: 'nobody looked any more' }]), cluster: null }));
  expect(phase.textContent).toBe('Last seen running30.0 s');
});
