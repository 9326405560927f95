import { act, fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { ItemDetail, ItemGrid, Request, Response, Workflow } from '../generated/protocol';
import { connect } from '../state/actions';
import { useFollowItem } from '../state/item';
import { shownView } from '../state/selectors';
import { useStore } from '../state/store';
import { view } from '../testing/fixtures';
import { ItemsPanel } from './ItemsPanel';

const NESTED: Workflow = {
  nodes: [
    { id: 'orders', type: 'split', name: 'Each order', parameters: {} },
    { id: 'lines', type: 'split', name: 'Each line', parameters: {} },
    { id: 'pack', type: 'log', name: 'Pack', parameters: {} },
  ],
  edges: [
    { id: 'a', src: 'orders', dst: 'lines' },
    { id: 'b', src: 'lines', dst: 'pack' },
  ],
};

let asked: Request[] = [];
let states = 'ssAr';

function answer(request: Request): Response {
  asked.push(request);
  if (request.type === 'items') {
    const inner = request.place.split === 'lines';
    const grid: ItemGrid = {
      execution_id: 'x1',
      place: request.place,
      position: shownView(useStore.getState())?.position ?? 0,
      total: inner ? 2 : 4,
      chunks: [{ start: 0, states: inner ? 'sA' : states }],
      groups: [{ node_id: 'pack', code: 'SIMULATED_FAILURE', message: 'box # is torn', count: 1 }],
    };
    return { type: 'items', data: grid };
  }
  if (request.type !== 'item') throw new Error(request.type);
  const detail: ItemDetail = {
    execution_id: 'x1',
    place: request.place,
    index: request.index,
    key: `orders=${request.index}`,
    nodes: { lines: { state: 'success', retrying: false, due: null } },
    edges: ['a'],
    inner: { lines: 2 },
    value: null,
    error: null,
  };
  return { type: 'item', data: detail };
}

function Panel(): React.ReactElement {
  useFollowItem();
  return <ItemsPanel />;
}

beforeEach(() => {
  asked = [];
  states = 'ssAr';
  connect({
    host: { mode: 'web', title: '', readOnly: false },
    call: (request) => Promise.resolve(answer(request)),
    subscribe: () => () => undefined,
  });
  useStore.setState({ ready: true, open: { type: 'execution', executionId: 'x1', view: view({ definition: NESTED }) } });
});

const shown = async (): Promise<HTMLElement> => {
  render(<Panel />);
  return screen.findByTestId('items-canvas');
};

describe('ItemsPanel', () => {
  it('counts items by state and groups failures', async () => {
    await shown();
    expect(screen.getByTestId('items-failed').textContent).toBe('Failed1');
    expect(screen.getByTestId('items-success').textContent).toBe('Success2');
    expect(screen.getByText('Box # is torn')).toBeTruthy();
    expect(screen.getByText('at Pack')).toBeTruthy();
  });

  it('is walked with the keyboard, and says each item', async () => {
    const canvas = await shown();
    expect(canvas.getAttribute('aria-valuetext')).toBe('Item 0: success');
    fireEvent.keyDown(canvas, { key: 'End' });
    fireEvent.keyDown(canvas, { key: 'ArrowLeft' });
    expect(canvas.getAttribute('aria-valuetext')).toBe('Item 2: failed, box # is torn');
    fireEvent.keyDown(canvas, { key: 'Enter' });
    expect(useStore.getState().item).toMatchObject({ index: 2, place: { split: 'orders', parent: [] } });
  });

  it('shows only failures where one wants to, so that the first of them is one step away', async () => {
    const canvas = await shown();
    fireEvent.click(screen.getByTestId('items-failed'));
    fireEvent.keyDown(canvas, { key: 'Home' });
    expect(canvas.getAttribute('aria-valuenow')).toBe('2');
    fireEvent.click(screen.getByTestId('items-failed'));
    expect(screen.getByTestId('items-failed').getAttribute('aria-pressed')).toBe('false');
  });

  it('jumps to an index, and no farther than there are items', async () => {
    await shown();
    const input = screen.getByTestId('items-jump');
    fireEvent.change(input, { target: { value: '77' } });
    fireEvent.submit(input);
    expect(useStore.getState().item?.index).toBe(3);
  });

  it('leads from an item into the fan-out inside it, and back', async () => {
    const canvas = await shown();
    fireEvent.keyDown(canvas, { key: 'Enter' });
    fireEvent.click(await screen.findByTestId('inner-lines'));
    await vi.waitFor(() => expect(asked.some((request) => request.type === 'items' && request.place.split === 'lines')).toBe(true));
    expect(useStore.getState().place).toEqual({ split: 'lines', parent: [0] });
    fireEvent.click(screen.getByText('Each order', { exact: false }));
    expect(useStore.getState().place).toEqual({ split: 'orders', parent: [] });
  });

  it('runs the chosen item again, alone', async () => {
    const canvas = await shown();
    expect(screen.queryByTestId('rerun-item')).toBeNull();
    fireEvent.keyDown(canvas, { key: 'ArrowRight' });
    fireEvent.keyDown(canvas, { key: 'Enter' });
    fireEvent.click(await screen.findByTestId('rerun-item'));
    expect(useStore.getState().fork).toEqual({ executionId: 'x1', from: 'item', key: 'orders=1', nodeId: null });
  });

  it('asks only for what has changed when the execution moves on', async () => {
    await shown();
    states = 'sssA';
    act(() => useStore.setState({ open: { type: 'execution', executionId: 'x1', view: view({ definition: NESTED, position: 9 }) } }));
    await vi.waitFor(() => expect(screen.getByTestId('items-success').textContent).toBe('Success3'));
    expect(asked.filter((request) => request.type === 'items').map((request) => request.since)).toEqual([0, 1]);
  });
});
