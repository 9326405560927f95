import { act, fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Request } from '../generated/protocol';
import { connect } from '../state/actions';
import { useStore } from '../state/store';
import { detail, entry, nodeView, summary, view } from '../testing/fixtures';
import { Inspector } from './Inspector';

const call = vi.fn();

beforeEach(() => {
  call.mockReset();
  call.mockImplementation(async (request: Extract<Request, { type: 'node_detail' }>) => ({
    type: 'node_detail',
    data: detail('greet', { text: request.execution_id === 'x1' ? 'Hello, Ada' : 'Hello, Grace' }),
  }));
  connect({ host: { mode: 'web', title: '', readOnly: false }, call, subscribe: () => () => undefined });
  useStore.setState({
    workflows: [entry()],
    selectedNode: 'greet',
    executions: [summary(), summary({ execution_id: 'x0', phase: 'completed' })],
    open: { type: 'execution', executionId: 'x1', view: view({ nodes: { greet: nodeView('success') } }) },
  });
});

describe('Comparison', () => {
  it('shows an output beside the one of another execution of the file', async () => {
    render(<Inspector />);
    fireEvent.click(await screen.findByTestId('compare'));
    expect((await screen.findByTestId('json-diff')).textContent).toContain('1 changed');
    expect(screen.getByText('"Hello, Grace"').closest('.json-row')?.textContent).toContain('before');
    expect(screen.getByText('"Hello, Ada"').closest('.json-row')?.textContent).toContain('now');
    fireEvent.click(screen.getByRole('button', { name: 'Stop comparing' }));
    expect(screen.queryByTestId('json-diff')).toBeNull();
  });

  it('says why when the other one cannot be read', async () => {
    render(<Inspector />);
    const button = await screen.findByTestId('compare');
    call.mockRejectedValue({ code: 'not_found', message: 'It is gone.', hint: '' });
    fireEvent.click(button);
    expect(await screen.findByText('It is gone.')).toBeTruthy();
  });

  it('shows what was filled into the parameters', async () => {
    render(<Inspector />);
    await screen.findByTestId('compare');
    fireEvent.click(screen.getByTestId('tab-parameters'));
    fireEvent.click(screen.getByText('Filled in'));
    expect(screen.getByTestId('json-diff').textContent).toContain('{{ $trigger.name }}');
  });

  it('leads from a value to the node that made it, and hides values on a stage', async () => {
    render(<Inspector />);
    await screen.findByTestId('compare');
    fireEvent.click(screen.getByTestId('tab-input'));
    act(() => useStore.setState(({ preferences }) => ({ preferences: { ...preferences, presenter: true } })));
    expect(screen.queryByText('"Ada"')).toBeNull();
    fireEvent.click(screen.getByText('$trigger.name'));
    expect(useStore.getState().selectedNode).toBe('start');
  });
});
