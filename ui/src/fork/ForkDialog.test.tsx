import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { ForkPreview, Request } from '../generated/protocol';
import { connect } from '../state/actions';
import { prepareFork } from '../state/fork';
import { useStore } from '../state/store';
import { summary, view } from '../testing/fixtures';
import { Family, originWords } from './Family';
import { ForkDialog } from './ForkDialog';
import { treeOf } from './tree';

/** What is written, without the editor around it. */
vi.mock('../shared/json/Editor', () => ({
  default: ({ label, text, onChange }: { label: string; text: string; onChange: (text: string) => void }) => (
    <textarea aria-label={label} defaultValue={text} onChange={(event) => onChange(event.target.value)} />
  ),
}));

const ask = { node_id: 'greet', key: '', asks: 'GET http://127.0.0.1/price' };
const PINNED: ForkPreview = { effects: [], effects_total: 0, pinned: 1, pins: [ask] };
const CALM: ForkPreview = { effects: [], effects_total: 0, pinned: 0, pins: [] };
const ASKED: ForkPreview = { effects: [ask], effects_total: 1, pinned: 0, pins: [] };

const calls: Request[] = [];
let usual: ForkPreview;

beforeEach(() => {
  calls.length = 0;
  usual = PINNED;
  const call = vi.fn(async (request: Request) => {
    calls.push(request);
    switch (request.type) {
      case 'fork_point':
        return { type: 'fork_point', data: { position: 4, at: 1_000, node_id: 'greet', key: '', place: { type: 'output', data: { type: 'whole', data: { json: { n: 1 }, bytes: 7 } } } } };
      case 'fork_preview':
        return { type: 'fork_preview', data: request.wish.type === 'at' && request.wish.run.length > 0 ? ASKED : usual };
      case 'fork':
        return { type: 'started', data: { execution_id: 'x2' } };
      case 'forks':
        return { type: 'forks', data: [{ execution_id: 'x1', origin: null }, { execution_id: 'x2', origin: { parent: 'x1', position: 4, again: { type: 'failed', node_id: 'greet' } } }] };
      default:
        return { type: 'execution', data: view({ summary: summary({ execution_id: 'x2' }) }) };
    }
  });
  connect({ host: { mode: 'web', title: '', readOnly: false }, call: call as never, subscribe: () => () => undefined });
  useStore.setState({ open: { type: 'execution', executionId: 'x1', view: view() }, executions: [summary()] });
});

const wishes = (): unknown[] => calls.flatMap((request) => (request.type === 'fork' ? [request.wish] : []));

describe('ForkDialog', () => {
  it.each([
    [CALM, false],
    [PINNED, true],
    [ASKED, true],
  ])('has a second column only for what asks outside: %j', async (preview, wide) => {
    usual = preview;
    prepareFork({ executionId: 'x1', from: 'event', position: 4 });
    render(<ForkDialog />);
    await waitFor(() => expect(screen.getByTestId('fork-preview').dataset['state']).toBe('known'));
    expect(screen.getByTestId('fork-dialog').classList.contains('fork-wide')).toBe(wide);
  });

  it('forks with what was changed, and opens what comes of it', async () => {
    prepareFork({ executionId: 'x1', from: 'event', position: 4 });
    render(<ForkDialog />);
    const editor = await screen.findByLabelText('What the node puts out');
    expect(screen.getByTestId('fork-dialog').textContent).toContain('on this machine');
    fireEvent.change(editor, { target: { value: '{"n": 2' } });
    expect(screen.getByTestId('json-fault').textContent).toContain('Line 1, column 8');
    expect((screen.getByTestId('start-fork') as HTMLButtonElement).disabled).toBe(true);
    fireEvent.change(editor, { target: { value: '{"n": 2}' } });
    await waitFor(() => expect((screen.getByTestId('start-fork') as HTMLButtonElement).disabled).toBe(false));
    expect(screen.getByTestId('fork-preview').textContent).toContain('Nothing outside is asked.');
    fireEvent.click(screen.getByTestId('start-fork'));
    await waitFor(() => expect(useStore.getState().fork).toBeNull());
    expect(wishes()).toEqual([{ type: 'at', position: 4, edit: { type: 'output', value: { n: 2 } }, run: [] }]);
    expect(useStore.getState().open).toMatchObject({ type: 'execution', executionId: 'x2' });
  });

  it('lists what would really be asked, and waits for a yes', async () => {
    prepareFork({ executionId: 'x1', from: 'event', position: 4 });
    render(<ForkDialog />);
    fireEvent.click(await screen.findByTestId('fork-run-greet'));
    await screen.findByText(/really be asked/);
    expect(screen.getByTestId('fork-preview').textContent).toContain('GET http://127.0.0.1/price');
    expect((screen.getByTestId('start-fork') as HTMLButtonElement).disabled).toBe(true);
    fireEvent.click(screen.getByTestId('fork-agree'));
    expect((screen.getByTestId('start-fork') as HTMLButtonElement).disabled).toBe(false);
    fireEvent.click(screen.getByTestId('start-fork'));
    await waitFor(() => expect(wishes()).toEqual([{ type: 'at', position: 4, edit: null, run: ['greet'] }]));
  });

  it('runs the failed items of a node again', async () => {
    prepareFork({ executionId: 'x1', from: 'failed', nodeId: 'greet' });
    render(<ForkDialog />);
    expect(screen.getByTestId('fork-dialog').textContent).toContain('The items that failed at Greet run again');
    await waitFor(() => expect((screen.getByTestId('start-fork') as HTMLButtonElement).disabled).toBe(false));
    fireEvent.click(screen.getByTestId('start-fork'));
    await waitFor(() => expect(wishes()).toEqual([{ type: 'failed', node_id: 'greet' }]));
  });
});

describe('one item', () => {
  it('runs again alone, from a node on', async () => {
    prepareFork({ executionId: 'x1', from: 'item', key: 'each=7', nodeId: 'greet' });
    render(<ForkDialog />);
    expect(screen.getByTestId('fork-dialog').textContent).toContain('The item each=7 runs again, from Greet on, with what follows from it.');
    await waitFor(() => expect((screen.getByTestId('start-fork') as HTMLButtonElement).disabled).toBe(false));
    fireEvent.click(screen.getByTestId('start-fork'));
    await waitFor(() => expect(wishes()).toEqual([{ type: 'item', key: 'each=7', node_id: 'greet' }]));
  });

  it('is told of in the family', () => {
    const origin = { parent: 'x1', position: 4, run: [], again: { type: 'item' as const, key: 'each=7', node_id: null } };
    expect(originWords(origin, (id) => id)).toBe('Item each=7 again');
  });
});

describe('Family', () => {
  it('shows where an execution comes from', async () => {
    render(<Family />);
    expect((await screen.findByTestId('family-x2')).textContent).toContain('Failed items of Greet again');
    expect(screen.getByTestId('family-x1').getAttribute('aria-current')).toBe('true');
  });

  it('puts forks below what they come from', () => {
    const branch = (id: string, parent: string | null) => ({ execution_id: id, origin: parent === null ? null : { parent, position: 1, run: [] } });
    const lines = treeOf([branch('a', null), branch('b', 'a'), branch('c', 'a'), branch('d', 'b')]);
    expect(lines.map(({ id, depth }) => `${depth}${id}`)).toEqual(['0a', '1b', '2d', '1c']);
  });
});
