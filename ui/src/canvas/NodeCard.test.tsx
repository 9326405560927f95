import { fireEvent, render, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import type { NodeState, NodeView } from '../generated/protocol';
import { NO_COUNTS, WORKFLOW, diagnostic, nodeView, view } from '../testing/fixtures';
import { useStore } from '../state/store';
import { Card } from './NodeCard';

const [, node] = WORKFLOW.nodes;

function show(nodes: { [id: string]: NodeView }, diagnostics = [] as ReturnType<typeof diagnostic>[]) {
  useStore.setState({ open: { type: 'execution', executionId: 'x1', view: view({ nodes }) } });
  if (!node) throw new Error('The fixture has no second node.');
  render(<Card node={node} title="Greet" diagnostics={diagnostics} />);
  return screen.getByTestId('node-greet');
}

describe('Card', () => {
  it.each<[NodeState, string]>([
    ['idle', 'Idle'],
    ['queued', 'Queued'],
    ['running', 'Running'],
    ['success', 'Success'],
    ['failed', 'Failed'],
    ['skipped', 'Skipped'],
  ])('tells %s by word, icon and class', (state, word) => {
    const card = show({ greet: nodeView(state) });
    expect(card.dataset.state).toBe(state);
    expect(card.classList.contains(`card-${state}`)).toBe(true);
    expect(screen.getByText(word)).toBeTruthy();
    expect(card.querySelector(`.state-icon.state-${state}`)).toBeTruthy();
    expect(card.getAttribute('aria-label')).toBe(`Greet, edit, ${word.toLowerCase()}`);
  });

  it('is idle without an execution', () => {
    expect(show({}).dataset.state).toBe('idle');
  });

  it('shows how long it took, attempts and firings only where they say something', () => {
    show({ greet: nodeView('success', { busy_ms: 1_234, counts: { ...NO_COUNTS, success: 1 } }) });
    expect(screen.getByText('1.23 s')).toBeTruthy();
    expect(screen.queryByText(/↻|×/)).toBeNull();
  });

  it('counts many firings', () => {
    const card = show({ greet: nodeView('failed', { attempts: 3, counts: { ...NO_COUNTS, success: 1_200, failed: 34 } }) });
    expect(screen.getByText('↻ 3')).toBeTruthy();
    expect(screen.getByText('× 1,234').title).toBe('1,200 success, 34 failed');
    expect(card.querySelectorAll('.card-bar span')).toHaveLength(2);
  });

  it('follows the store', async () => {
    show({ greet: nodeView('running') });
    useStore.setState({ open: { type: 'execution', executionId: 'x1', view: view({ nodes: { greet: nodeView('success') } }) } });
    expect((await screen.findByText('Success')).closest('[data-state="success"]')).toBeTruthy();
  });

  it('marks what is wrong with it', () => {
    show({}, [diagnostic(), diagnostic({ severity: 'warning', message: 'Careful.' })]);
    expect(screen.getByTestId('node-marker').classList.contains('card-marker-error')).toBe(true);
    expect(screen.getByText('Careful.')).toBeTruthy();
  });

  it('is selected by a click', () => {
    fireEvent.click(show({}));
    expect(useStore.getState().selectedNode).toBe('greet');
    expect(screen.getByTestId('node-greet').getAttribute('aria-pressed')).toBe('true');
  });
});
