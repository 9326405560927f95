import { fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { useStore } from '../state/store';
import { WORKFLOW, entry, summary, view } from '../testing/fixtures';
import { Palette } from './Palette';

const close = vi.fn();

beforeEach(() => {
  close.mockClear();
  const fanned = { ...WORKFLOW, nodes: [...WORKFLOW.nodes, { id: 'each', type: 'split', name: 'Each', parameters: {} }] };
  useStore.setState({
    ready: true,
    workflows: [entry(), entry({ path: 'other.json', title: 'Other one' })],
    executions: [summary({ phase: 'completed' })],
    open: { type: 'execution', executionId: 'x1', view: view({ definition: fanned }) },
  });
  render(<Palette onClose={close} onHelp={() => undefined} />);
});

function type(query: string): HTMLElement {
  const field = screen.getByTestId('palette-field');
  fireEvent.change(field, { target: { value: query } });
  return field;
}

describe('Palette', () => {
  it('selects a node by its name', () => {
    fireEvent.keyDown(type('greet'), { key: 'Enter' });
    expect(useStore.getState().selectedNode).toBe('greet');
    expect(close).toHaveBeenCalled();
  });

  it('opens a workflow, found by its file', () => {
    fireEvent.keyDown(type('other.json'), { key: 'Enter' });
    expect(useStore.getState().open).toEqual({ type: 'workflow', path: 'other.json' });
  });

  it('goes to an item by its number', () => {
    fireEvent.keyDown(type('37'), { key: 'Enter' });
    expect(useStore.getState().item).toMatchObject({ index: 37, place: { split: 'each', parent: [] } });
  });

  it('does what can be done', () => {
    fireEvent.keyDown(type('dark'), { key: 'Enter' });
    expect(useStore.getState().preferences.theme).toBe('dark');
  });

  it('has every command of control that is possible now, with its key', () => {
    type('pause');
    expect(screen.getByText('Pause').closest('[role="option"]')?.textContent).toContain('F6');
    type('step from');
    expect(screen.getByText('Step from the start')).toBeTruthy();
  });

  it('is walked with the arrows, and says so when there is nothing', () => {
    const field = type('the');
    const first = field.getAttribute('aria-activedescendant');
    fireEvent.keyDown(field, { key: 'ArrowDown' });
    expect(field.getAttribute('aria-activedescendant')).not.toBe(first);
    type('zzzzqqq');
    expect(screen.getByText('Nothing is called like that.')).toBeTruthy();
  });
});
