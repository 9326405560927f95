import { act, fireEvent, render, screen } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import type { Finding, NodeState, NodeView } from '../generated/protocol';
import { NO_COUNTS, WORKFLOW, cluster, controlView, diagnostic, held, nodeView, summary, view } from '../testing/fixtures';
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
    ['waiting_timer', 'Waiting'],
    ['waiting_barrier', 'Gathering'],
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
    expect(screen.queryByText(/↻/)).toBeNull();
    expect(screen.queryByRole('img')).toBeNull();
  });

  it('counts many firings', () => {
    const card = show({ greet: nodeView('failed', { attempts: 3, counts: { ...NO_COUNTS, success: 1_200, failed: 34 } }) });
    expect(screen.getByText('↻ 3')).toBeTruthy();
    const counts = screen.getByRole('img', { name: '1,200 done, 34 failed of 1,234' });
    expect(counts.textContent).toBe('1,20034of 1,234');
    expect(card.getAttribute('aria-label')).toBe('Greet, edit, failed, 1,200 done, 34 failed of 1,234');
    expect(card.querySelectorAll('.card-bar span')).toHaveLength(2);
  });

  it('tells where the firings of a fan-out are, in one order', () => {
    const counts = { queued: 4, running: 3, waiting: 12, success: 20, failed: 5, skipped: 0 };
    const card = show({ greet: nodeView('running', { counts }) });
    expect([...card.querySelectorAll<HTMLElement>('[data-count]')].map((part) => [part.dataset.count, part.textContent])).toEqual([
      ['running', '3'],
      ['waiting', '12'],
      ['success', '20'],
      ['failed', '5'],
    ]);
    expect(screen.getByText('of 44')).toBeTruthy();
    expect(screen.getByRole('img').title).toBe('3 running, 12 waiting, 20 done, 5 failed, 4 queued of 44');
    expect(card.querySelectorAll('.card-bar span')).toHaveLength(5);
  });

  it('shows how much has arrived, as a bar while it gathers', () => {
    const card = show({ greet: nodeView('waiting_barrier', { progress: { arrived: 450, expected: 1_000 } }) });
    expect(screen.getByText('450 / 1,000').closest('.numbers')).toBeTruthy();
    expect([...card.querySelectorAll<HTMLElement>('.card-gathered span')].map((part) => part.style.flexGrow)).toEqual(['450', '550']);
    expect(card.getAttribute('aria-label')).toBe('Greet, edit, gathering, 450 of 1,000 arrived');
  });

  it.each<[NodeState, number]>([
    ['success', 1_000],
    ['failed', 999],
  ])('keeps the text and drops the bar when it is over: %s', (state, arrived) => {
    const card = show({ greet: nodeView(state, { busy_ms: 3, progress: { arrived, expected: 1_000 } }) });
    expect(screen.getByText(`${arrived.toLocaleString('en-US')} / 1,000`)).toBeTruthy();
    expect(card.querySelector('.card-gathered')).toBeNull();
  });

  it('makes nothing of one out of one', () => {
    const card = show({ greet: nodeView('waiting_barrier', { progress: { arrived: 0, expected: 1 } }) });
    expect(screen.queryByText('0 / 1')).toBeNull();
    expect(card.querySelector('.card-bar')).toBeNull();
  });

  describe('that rests', () => {
    const resting = (due: number) => ({ greet: nodeView('waiting_timer', { due, counts: { ...NO_COUNTS, waiting: 1 } }) });

    it('counts down, and draws nothing but the text again', () => {
      vi.useFakeTimers({ now: 1_000_000 });
      try {
        const card = show(resting(1_002_500));
        const label = card.querySelector('.state-label');
        expect(screen.getByText('in 2 s')).toBeTruthy();
        act(() => void vi.advanceTimersByTime(2_000));
        expect(screen.getByText('now')).toBeTruthy();
        act(() => void vi.advanceTimersByTime(6_000));
        expect(screen.getByText('overdue 5 s')).toBeTruthy();
        expect(card.querySelector('.state-label')).toBe(label);
      } finally {
        vi.useRealTimers();
      }
    });

    it('does not count in a replay, which happens at another time', () => {
      useStore.setState({ host: { mode: 'replay', title: '', readOnly: true } });
      show(resting(Date.now() + 5_000));
      expect(screen.queryByText(/^in |now|overdue/)).toBeNull();
    });

    it('does not count when the execution is over', () => {
      show(resting(Date.now() + 5_000));
      const ended = view({ summary: summary({ phase: 'halted', ended_at: 2_000 }), nodes: resting(Date.now() + 5_000) });
      act(() => useStore.setState({ open: { type: 'execution', executionId: 'x1', view: ended } }));
      expect(screen.queryByText(/^in /)).toBeNull();
    });
  });

  describe('whose wait nobody will end', () => {
    const lost = (key: string | null): Finding => ({ rule: 'lost_resume', since: 0, execution_id: 'x1', node_id: 'greet', key, sentence: '', evidence: [], advice: '' });
    const resting = (count: number) => ({ greet: nodeView('waiting_timer', { due: Date.now() - 60_000, counts: { ...NO_COUNTS, waiting: count } }) });

    it('is lost, by word and icon, and not overdue', () => {
      useStore.setState({ cluster: cluster({ findings: [lost(null)] }) });
      const card = show(resting(1));
      expect(screen.getByText('Lost').closest('.state-lost')?.querySelector('svg')).toBeTruthy();
      expect(card.classList.contains('card-lost')).toBe(true);
      expect(card.textContent).not.toMatch(/Waiting|overdue/);
      expect(card.getAttribute('aria-label')).toBe('Greet, edit, lost');
    });

    it('says how many of those that wait are lost', () => {
      useStore.setState({ cluster: cluster({ findings: [lost('each=1'), lost('each=2')] }) });
      const card = show(resting(5));
      expect(card.querySelector('.card-bottom')?.textContent).toBe('Waiting2 lost');
      expect(card.classList.contains('card-lost')).toBe(false);
      expect(card.getAttribute('aria-label')).toBe('Greet, edit, waiting, 2 lost, 5 waiting of 5');
    });
  });

  describe('that is tried again', () => {
    const error = { message: 'nobody answers at 127.0.0.1:9', code: 'CONNECTION_FAILED' as const };
    const retrying = (due: number, more: Partial<NodeView> = {}) => ({
      greet: nodeView('waiting_timer', { due, retrying: 1, attempts: 1, error, counts: { ...NO_COUNTS, waiting: 1 }, ...more }),
    });

    it('says so in words, with a countdown, the next attempt and the reason', () => {
      vi.useFakeTimers({ now: 1_000_000 });
      try {
        const card = show(retrying(1_005_500));
        expect(screen.getByText('Tries again')).toBeTruthy();
        expect(screen.getByText('in 5 s')).toBeTruthy();
        expect(screen.getByText('attempt 2')).toBeTruthy();
        act(() => void vi.advanceTimersByTime(2_000));
        expect(screen.getByText('in 3 s')).toBeTruthy();
        const reason = screen.getByRole('tooltip');
        expect(reason.textContent).toContain('Attempt 1 failed · No connection');
        expect(reason.textContent).toContain('Nobody answers at 127.0.0.1:9');
        expect(card.getAttribute('aria-label')).toMatch(/^Greet, edit, tries again, at .*, attempt 2, because nobody answers at 127\.0\.0\.1:9$/);
      } finally {
        vi.useRealTimers();
      }
    });

    it('is not taken for a rest', () => {
      const card = show(retrying(Date.now() + 5_000));
      expect(card.classList.contains('card-retrying')).toBe(true);
      expect(card.classList.contains('card-waiting_timer')).toBe(false);
      expect(card.dataset.state).toBe('waiting_timer');
      expect(card.querySelector('.state-icon.state-retrying')).toBeTruthy();
    });

    it('is told apart from what waits, among many', () => {
      const counts = { ...NO_COUNTS, running: 2, waiting: 5, success: 3, skipped: 4 };
      const card = show(retrying(Date.now() + 5_000, { state: 'running', retrying: 3, counts }));
      expect(screen.getByRole('img', { name: '2 running, 3 trying again, 2 waiting, 3 done, 4 skipped of 14' })).toBeTruthy();
      expect(screen.getByRole('tooltip').textContent).toContain('3 to be tried again');
      expect([...card.querySelectorAll('.card-bar span')].map((share) => share.className)).toEqual([
        'bar-success',
        'bar-skipped',
        'bar-running',
        'bar-retrying',
        'bar-waiting',
      ]);
    });

    it('leaves what was skipped out of the bar once all is over', () => {
      const card = show({ greet: nodeView('success', { counts: { ...NO_COUNTS, success: 7, skipped: 3 } }) });
      expect([...card.querySelectorAll('.card-bar span')].map((share) => share.className)).toEqual(['bar-success']);
    });

    it('does not count in a replay', () => {
      useStore.setState({ host: { mode: 'replay', title: '', readOnly: true } });
      show(retrying(Date.now() + 5_000));
      expect(screen.queryByText(/^in /)).toBeNull();
      expect(screen.getByText('attempt 2')).toBeTruthy();
    });

    it('forgets the reason once it runs again', () => {
      show({ greet: nodeView('running', { attempts: 2, error, counts: { ...NO_COUNTS, running: 1 } }) });
      expect(screen.queryByRole('tooltip')).toBeNull();
      expect(screen.getByText('↻ 2')).toBeTruthy();
    });
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

  it('tells that something is held, set and pinned, by mark and by word', () => {
    useStore.setState((state) => ({
      control: {
        ...state.control,
        controls: { breakpoints: [{ place: { type: 'before', node_id: 'greet' } }], mocks: [{ node_id: 'greet', answer: { type: 'output', value: 1 } }] },
        view: controlView([held(), held({ message_id: 'm2', edited: true })], { stale: [{ node_id: 'greet', because: 'greet', removed: false }] }),
      },
    }));
    const card = show({ greet: nodeView('running') });
    expect(card.dataset.held).toBe('2');
    expect(card.classList.contains('card-held')).toBe(true);
    expect(screen.getByText('Held')).toBeTruthy();
    expect([...card.querySelectorAll('[data-mark]')].map((mark) => (mark as HTMLElement).dataset.mark)).toEqual(['edited', 'pin', 'stale']);
    expect(card.getAttribute('aria-label')).toContain('2 messages held before its work, breakpoint before it, its output is pinned, stale');
  });
});
