import { act, fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import type { BarrierView, Node, PartAt, Workflow } from '../generated/protocol';
import { connect } from '../state/actions';
import { useStore } from '../state/store';
import { cluster, summary, view } from '../testing/fixtures';
import { Barrier } from './Barrier';

const GATHER: Node = { id: 'all', type: 'aggregator', name: 'All', parameters: {} };
const WORKFLOW: Workflow = {
  nodes: [{ id: 'each', type: 'split', name: 'Each', parameters: {} }, { id: 'rest', type: 'wait', name: 'Rest', parameters: {} }, GATHER],
  edges: [
    { id: 'a', src: 'each', dst: 'rest' },
    { id: 'b', src: 'rest', dst: 'all' },
  ],
};

const resting: PartAt = { node_id: 'rest', state: 'waiting_timer', retrying: false, attempt: 1, since: 0, due: 5_000 };
let answer: BarrierView;

beforeEach(() => {
  answer = {
    execution_id: 'x1',
    node_id: 'all',
    position: 4,
    total: 1,
    places: [
      {
        key: '',
        arrived: 99,
        expected: 100,
        due: null,
        missing: [{ type: 'item', data: { index: 37, at: resting } }],
        whereabouts: [{ node_id: 'rest', state: 'waiting_timer', retrying: false, count: 1, due: 5_000 }],
      },
    ],
  };
  connect({
    host: { mode: 'web', title: '', readOnly: false },
    call: () => Promise.resolve({ type: 'barrier', data: answer }),
    subscribe: () => () => undefined,
  });
  useStore.setState({ ready: true, open: { type: 'execution', executionId: 'x1', view: view({ definition: WORKFLOW }) } });
});

describe('Barrier', () => {
  it('says what has arrived, what is missing, where it is and why, and follows the missing item', async () => {
    render(<Barrier node={GATHER} executionId="x1" />);
    expect((await screen.findByTestId('barrier-verdict')).textContent).toMatch(/^Waits for 1 of 100 items: 1 rests at “Rest” until /);
    expect(screen.getByText('99 / 100')).toBeTruthy();
    fireEvent.click(screen.getByText('Item 37'));
    expect(useStore.getState().item).toMatchObject({ index: 37, place: { split: 'each', parent: [] } });
  });

  it('leaves its place to something else where nothing is missing', async () => {
    answer.places = [];
    render(<Barrier node={GATHER} executionId="x1" otherwise={<p>12 / 12</p>} />);
    expect(await screen.findByText('12 / 12')).toBeTruthy();
    expect(screen.queryByTestId('barrier')).toBeNull();
  });

  it('names a missing branch, and leads to where it is', async () => {
    answer.places[0] = {
      ...(answer.places[0] as (typeof answer.places)[0]),
      missing: [{ type: 'branch', data: { edge_id: 'b', parent: 'rest', at: resting } }],
    };
    render(<Barrier node={GATHER} executionId="x1" />);
    fireEvent.click(await screen.findByText('Rest', { selector: '.barrier-what' }));
    expect(useStore.getState().selectedNode).toBe('rest');
  });

  it('says who came first where a race is won, also when nothing waits, and leads there', async () => {
    answer = { ...answer, winner: 'rest' };
    const { unmount } = render(<Barrier node={GATHER} executionId="x1" />);
    expect((await screen.findByTestId('barrier-first')).textContent).toBe('First: Rest');
    expect(screen.getByTestId('barrier').contains(screen.getByTestId('barrier-first'))).toBe(true);
    unmount();
    answer = { ...answer, places: [], total: 0 };
    render(<Barrier node={GATHER} executionId="x1" otherwise={<p>1 / 1</p>} />);
    expect(await screen.findByText('1 / 1')).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Rest' }));
    expect(useStore.getState().selectedNode).toBe('rest');
  });

  it('calls it a lock while the cluster that keeps it is attached', async () => {
    answer = { ...answer, places: [], total: 0, winner: 'gone', verdict: 'It has opened.' };
    const observed = { cluster: 'production', dialect: 'rune' as const, joined_late: false, gaps: [] };
    useStore.setState({ cluster: cluster(), open: { type: 'execution', executionId: 'x1', view: view({ definition: WORKFLOW, summary: summary({ path: null, observed }) }) } });
    render(<Barrier node={GATHER} executionId="x1" />);
    // A node that the graph does not have is named by its id.
    expect((await screen.findByTestId('barrier-first')).textContent).toBe('Lock held by gone');
    expect(screen.getByTestId('barrier-cluster').textContent).toBe('On the cluster: It has opened.');
    act(() => useStore.setState({ cluster: null }));
    expect(screen.getByTestId('barrier-first').textContent).toBe('First: gone');
  });

  it('is not there when nothing is missing', async () => {
    answer = { ...answer, places: [], total: 0 };
    const { container } = render(<Barrier node={GATHER} executionId="x1" />);
    await Promise.resolve();
    expect(container.textContent).toBe('');
  });
});
