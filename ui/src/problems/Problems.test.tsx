import { fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { useStore } from '../state/store';
import { diagnostic, entry } from '../testing/fixtures';
import { Problems } from './Problems';

beforeEach(() => {
  const warning = diagnostic({ severity: 'warning', code: 'UNREACHABLE', node_id: 'sorry', place: undefined, message: 'Never reached.', hint: '' });
  useStore.setState({
    open: { type: 'workflow', path: 'hello.json' },
    workflows: [entry({ diagnostics: [diagnostic(), warning] })],
  });
  render(<Problems />);
});

describe('Problems', () => {
  it('tells everything about each finding', () => {
    const [first, second] = screen.getAllByRole('listitem');
    for (const part of ['Error', 'UNKNOWN_REFERENCE', 'greet', '3:7', 'names nothing', 'Use the id']) {
      expect(first?.textContent).toContain(part);
    }
    expect(second?.textContent).toContain('Warning');
  });

  it('selects the node of a finding', () => {
    fireEvent.click(screen.getByText('Never reached.'));
    expect(useStore.getState().selectedNode).toBe('sorry');
  });

  it('is one tab stop, walked with the arrows', () => {
    const rows = screen.getAllByRole('listitem').map((item) => item.querySelector('button'));
    expect(rows.map((row) => row?.tabIndex)).toEqual([0, -1]);
    rows[0]?.focus();
    fireEvent.keyDown(document.activeElement ?? document.body, { key: 'ArrowDown' });
    expect(document.activeElement).toBe(rows[1]);
    fireEvent.keyDown(document.activeElement ?? document.body, { key: 'Home' });
    expect(document.activeElement).toBe(rows[0]);
  });
});
