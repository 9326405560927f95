import { act, fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import type { BarrierView, Finding, Node, PartAt, Workflow } from '../generated/protocol';
import { connect } from '../state/actions';
import { useStore } from '../state/store';
import { cluster, nodeView, summary, view } from '../testing/fixtures';
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
    const part = (await screen.findByText('Rest', { selector: '.barrier-what' })).closest('button');
    // It is where it comes from, which is not said twice: there is hardly room for it once.
    expect(part?.textContent).toMatch(/^RestWaiting/);
    fireEvent.click(screen.getByText('Rest', { selector: '.barrier-what' }));
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

  it('says who came first for the item that is chosen, and not for all of them', async () => {
    const race: Node = { id: 'race', type: 'merge', name: 'Either', parameters: {} };
    const inside: Workflow = { nodes: [...WORKFLOW.nodes, race], edges: [...WORKFLOW.edges, { id: 'c', src: 'rest', dst: 'race' }, { id: 'd', src: 'race', dst: 'all' }] };
    answer = { ...answer, node_id: 'race', places: [], total: 0 };
    const observed = { cluster: 'production', dialect: 'rune' as const, joined_late: false, gaps: [] };
    useStore.setState({ cluster: cluster(), open: { type: 'execution', executionId: 'x1', view: view({ definition: inside, summary: summary({ path: null, observed }) }) } });
    render(<Barrier node={race} executionId="x1" otherwise={<p>2 / 2</p>} />);
    expect(await screen.findByText('2 / 2')).toBeTruthy();
    expect(screen.queryByTestId('barrier-first')).toBeNull();
    const place = { split: 'each', parent: [] };
    const choose = (index: number, first: string | null): void => {
      const nodes = { race: { state: 'success' as const, retrying: false, due: null, first } };
      const detail = { execution_id: 'x1', place, index, key: `each=${index}`, nodes, edges: [], inner: {}, value: null, error: null };
      act(() => useStore.setState({ item: { place, index, detail } }));
    };
    choose(3, 'rest');
    expect(screen.getByTestId('barrier-first').textContent).toBe('First for item 3: Rest');
    choose(4, null);
    expect(screen.queryByTestId('barrier-first')).toBeNull();
  });

  it('tells the lock, which is one for all items, from who came first for one', async () => {
    answer = { ...answer, node_id: 'rest', places: [], total: 0, winner: 'each' };
    const place = { split: 'each', parent: [] };
    const nodes = { rest: { state: 'success' as const, retrying: false, due: null, first: 'all' } };
    const observed = { cluster: 'production', dialect: 'rune' as const, joined_late: false, gaps: [] };
    useStore.setState({
      cluster: cluster(),
      open: { type: 'execution', executionId: 'x1', view: view({ definition: WORKFLOW, summary: summary({ path: null, observed }) }) },
      item: { place, index: 3, detail: { execution_id: 'x1', place, index: 3, key: 'each=3', nodes, edges: [], inner: {}, value: null, error: null } },
    });
    render(<Barrier node={WORKFLOW.nodes[1] as Node} executionId="x1" />);
    expect((await screen.findAllByTestId('barrier-first')).map((each) => each.textContent)).toEqual(['Lock held by Each', 'First for item 3: All']);
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

  it('puts what the cluster says before what was heard', async () => {
    answer = { ...answer, verdict: 'It can no longer open.' };
    render(<Barrier node={GATHER} executionId="x1" />);
    await screen.findByTestId('barrier-verdict');
    const told = [...screen.getByTestId('barrier').querySelectorAll('.barrier-verdict')].map((each) => each.textContent);
    expect(told).toEqual(['On the cluster: It can no longer open.', expect.stringMatching(/^Waits for 1 of 100/)]);
  });

  it('says First of workers that keep no lock', async () => {
    answer = { ...answer, places: [], total: 0, winner: 'rest' };
    const observed = { cluster: 'production', dialect: 'runeglass' as const, joined_late: false, gaps: [] };
    useStore.setState({ cluster: cluster(), open: { type: 'execution', executionId: 'x1', view: view({ definition: WORKFLOW, summary: summary({ path: null, observed }) }) } });
    render(<Barrier node={GATHER} executionId="x1" />);
    expect((await screen.findByTestId('barrier-first')).textContent).toBe('First: Rest');
  });

  it('tells a missing part that is lost from one that rests', async () => {
    const lost: Finding = { rule: 'lost_resume', since: 0, execution_id: 'x1', node_id: 'rest', key: 'each=37', sentence: '', evidence: [], advice: '' };
    const nodes = { rest: nodeView('waiting_timer') };
    useStore.setState({ cluster: cluster({ findings: [lost] }), open: { type: 'execution', executionId: 'x1', view: view({ definition: WORKFLOW, nodes }) } });
    render(<Barrier node={GATHER} executionId="x1" />);
    expect((await screen.findByTestId('barrier-verdict')).textContent).toBe('Waits for 1 of 100 items: 1 is lost at “Rest”.');
    expect(screen.getByText('Item 37').closest('button')?.textContent).toBe('Item 37Lost atRestlost');
  });

  it('is not there when nothing is missing', async () => {
    answer = { ...answer, places: [], total: 0 };
    const { container } = render(<Barrier node={GATHER} executionId="x1" />);
    await Promise.resolve();
    expect(container.textContent).toBe('');
  });
});
