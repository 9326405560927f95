import { fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Note, Request, Response, Timeline } from '../generated/protocol';
import { connect } from '../state/actions';
import { nodeStateOf } from '../state/selectors';
import { useStore } from '../state/store';
import { nodeView, view } from '../testing/fixtures';
import { TimelinePanel } from './TimelinePanel';

const TIMELINE: Timeline = {
  execution_id: 'x1',
  position: 9,
  started_at: 1_000,
  latest_at: 3_000,
  rows: [{ node_id: 'greet', bars: [{ kind: 'run', from: 1_000, to: 2_000, count: 1, failed: 0 }] }],
  ticks: [{ at: 1_000, position: 1 }, { at: 2_000, position: 5 }, { at: 3_000, position: 9 }],
};

let asked: Request[] = [];
let kept: Note[] = [];

function answer(request: Request): Response {
  asked.push(request);
  if (request.type === 'timeline') return { type: 'timeline', data: TIMELINE };
  if (request.type === 'notes') return { type: 'notes', data: kept };
  if (request.type === 'add_note') {
    kept = [{ execution_id: 'x1', position: request.position, node_id: null, at: 5_000, text: request.text }];
    return { type: 'done' };
  }
  if (request.type !== 'view_at') throw new Error(request.type);
  const position = request.when.type === 'position' ? request.when.data : 5;
  return { type: 'past', data: { view: view({ position, nodes: { greet: nodeView('running') } }), at: 2_000, last: 9 } };
}

beforeEach(() => {
  asked = [];
  kept = [];
  connect({
    host: { mode: 'web', title: '', readOnly: false },
    call: (request) => Promise.resolve(answer(request)),
    subscribe: () => () => undefined,
  });
  const now = view({ position: 9, nodes: { greet: nodeView('success') } });
  useStore.setState({ ready: true, open: { type: 'execution', executionId: 'x1', view: now } });
});

const shown = async (): Promise<HTMLElement> => {
  render(<TimelinePanel />);
  return screen.findByTestId('scrubber');
};
const past = (): number | undefined => useStore.getState().past?.view.position;

describe('TimelinePanel', () => {
  it('has a row per node, which selects it', async () => {
    await shown();
    fireEvent.click(screen.getByText('Greet'));
    expect(useStore.getState().selectedNode).toBe('greet');
  });

  it('shows when something went by unseen, and says why', async () => {
    const now = view({ position: 9, nodes: {} });
    const gaps = [{ from: 1_500, until: 2_500, dropped: 7, why: 'messages came faster than this machine could take them in' }];
    const observed = { cluster: 'production', dialect: 'rune' as const, joined_late: false, gaps };
    useStore.setState({ open: { type: 'execution', executionId: 'x1', view: { ...now, summary: { ...now.summary, observed } } } });
    await shown();
    const [gap] = screen.getByRole('list', { name: 'Gaps' }).children;
    expect(gap?.textContent).toMatch(/7 messages were not seen: messages came faster/);
    expect(screen.getByTestId('gap-line').textContent).toMatch(/^Gap .*7 messages were not seen/);
  });

  it('shows what a full disk did not keep', async () => {
    const now = view({ position: 9, nodes: {} });
    const unkept = { from: 3_000, until: null, dropped: 12, why: 'the disk is full' };
    useStore.setState({ open: { type: 'execution', executionId: 'x1', view: { ...now, summary: { ...now.summary, unkept } } } });
    await shown();
    expect(screen.getByRole('list', { name: 'Gaps' }).textContent).toMatch(/12 events were not kept: the disk is full/);
    expect(screen.getByTestId('gap-line').textContent).toMatch(/^Gap since .*12 events were not kept/);
    // Nothing came after it, so it has a place of its own, wide enough for its word.
    expect(screen.getByText('gap')).toBeTruthy();
  });

  it('has no gaps where everything was seen', async () => {
    await shown();
    expect(screen.queryByTestId('timeline-gaps')).toBeNull();
  });

  it('keeps a bookmark with the recording, and leads to what was kept', async () => {
    const scrubber = await shown();
    fireEvent.keyDown(scrubber, { key: 'm' });
    fireEvent.change(await screen.findByTestId('bookmark-note'), { target: { value: 'look here' } });
    fireEvent.click(screen.getByTestId('keep-note'));
    const note = await screen.findByTestId('kept-note');
    expect(note.textContent).toContain('look here');
    expect(asked).toContainEqual({ type: 'add_note', execution_id: 'x1', position: 9, text: 'look here' });
    expect(screen.queryByTestId('bookmark-note')).toBeNull();
    fireEvent.click(note);
    await vi.waitFor(() => expect(past()).toBe(9));
  });

  it('moves the whole page one event back and on, and to now', async () => {
    const scrubber = await shown();
    fireEvent.keyDown(scrubber, { key: 'ArrowLeft' });
    await vi.waitFor(() => expect(past()).toBe(8));
    expect(nodeStateOf(useStore.getState(), 'greet')).toBe('running');
    expect(scrubber.getAttribute('aria-valuenow')).toBe('8');
    fireEvent.keyDown(scrubber, { key: 'ArrowRight' });
    await vi.waitFor(() => expect(past()).toBe(9));
    fireEvent.keyDown(scrubber, { key: 'End' });
    expect(past()).toBeUndefined();
    expect(nodeStateOf(useStore.getState(), 'greet')).toBe('success');
  });

  it('asks for one moment at a time, and the last one counts', async () => {
    const scrubber = await shown();
    fireEvent.keyDown(scrubber, { key: 'Home' });
    fireEvent.keyDown(scrubber, { key: 'Home' });
    await vi.waitFor(() => expect(past()).toBe(1));
    expect(asked.filter((request) => request.type === 'view_at').length).toBeLessThanOrEqual(2);
  });

  it('goes from one thing that happened at the selected node to the next', async () => {
    useStore.setState({ selectedNode: 'greet' });
    const scrubber = await shown();
    fireEvent.keyDown(scrubber, { key: 'ArrowLeft', shiftKey: true });
    await vi.waitFor(() => expect(past()).toBe(5));
    expect(asked.at(-1)).toMatchObject({ type: 'view_at', when: { type: 'moment', data: 2_000 } });
    fireEvent.click(screen.getByTestId('node-back'));
    await vi.waitFor(() => expect(asked.at(-1)).toMatchObject({ when: { type: 'moment', data: 1_000 } }));
  });

  it('marks a moment with a note, comes back to it and forgets it', async () => {
    const scrubber = await shown();
    fireEvent.keyDown(scrubber, { key: 'ArrowLeft' });
    await vi.waitFor(() => expect(past()).toBe(8));
    fireEvent.keyDown(scrubber, { key: 'm' });
    fireEvent.change(screen.getByTestId('bookmark-note'), { target: { value: 'here it hangs' } });
    expect(useStore.getState().preferences.bookmarks).toEqual({ x1: [{ position: 8, at: 2_000, note: 'here it hangs' }] });
    fireEvent.keyDown(scrubber, { key: 'End' });
    fireEvent.click(screen.getByText('here it hangs'));
    await vi.waitFor(() => expect(past()).toBe(8));
    fireEvent.click(screen.getByRole('button', { name: 'Remove this bookmark' }));
    expect(screen.queryByTestId('bookmarks')).toBeNull();
  });

  it('plays and pauses, faster and slower, with keys', async () => {
    const scrubber = await shown();
    fireEvent.keyDown(scrubber, { key: ' ' });
    expect(useStore.getState().playing).toBe(true);
    fireEvent.keyDown(scrubber, { key: 'ArrowUp' });
    expect(useStore.getState().speed).toBe(2);
    fireEvent.keyDown(scrubber, { key: 'ArrowLeft' });
    expect(useStore.getState().playing).toBe(false);
  });

  it('stays at now when an answer about the past comes late', async () => {
    const scrubber = await shown();
    fireEvent.keyDown(scrubber, { key: 'Home' });
    fireEvent.keyDown(scrubber, { key: 'End' });
    await new Promise((resolve) => setTimeout(resolve));
    expect(past()).toBeUndefined();
  });

  it('says how far back one is, and leads back', async () => {
    const scrubber = await shown();
    fireEvent.keyDown(scrubber, { key: 'Home' });
    fireEvent.click(await screen.findByTestId('back-to-now'));
    expect(past()).toBeUndefined();
  });
});
