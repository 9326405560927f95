import { act, fireEvent, render, screen, waitFor } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Finding } from '../generated/protocol';
import * as actions from '../state/actions';
import { INITIAL_STATE, useStore } from '../state/store';
import { cluster, summary } from '../testing/fixtures';
import { ClusterPanel } from './ClusterPanel';
import { LiveBanner } from './LiveBanner';

vi.mock('../state/actions', () => ({ detach: vi.fn(), keepObserved: vi.fn(), openExecution: vi.fn() }));

const STUCK: Finding = {
  rule: 'barrier_cannot_open',
  since: 1_000,
  execution_id: 'x1',
  node_id: 'all',
  sentence: 'The join “All” waits for 2 items that no longer come.',
  evidence: ['exec:x1:all:count is 3 of 5'],
  advice: 'Run the execution again.',
};

beforeEach(() => {
  vi.resetAllMocks();
  useStore.setState(INITIAL_STATE);
});

describe('LiveBanner', () => {
  it('is absent without a cluster', () => {
    render(<LiveBanner />);
    expect(screen.queryByTestId('live-banner')).toBeNull();
  });

  it('says whose log is followed where messages tell less', () => {
    useStore.setState({ cluster: cluster({ heard: 0 }) });
    render(<LiveBanner />);
    const banner = screen.getByTestId('live-banner');
    expect(banner.textContent).toContain('Runeglass workers');
    expect(banner.textContent).toContain('their log is followed');
    expect(banner.textContent).not.toContain('heard');
  });

  it('says which cluster, that nothing is touched, and what was heard', () => {
    useStore.setState({ cluster: cluster({ dialect: 'rune', dropped: 7, gaps: [{ from: 0, until: 1, dropped: 7, why: 'too slow' }] }) });
    render(<LiveBanner />);
    const banner = screen.getByTestId('live-banner');
    for (const words of ['LIVE', 'production', 'read only', 'Rune services', '1,234 messages heard, 7 messages were not seen', '1 gap']) {
      expect(banner.textContent).toContain(words);
    }
    expect(banner.className).toContain('cluster-red');
  });

  it('records and detaches', () => {
    useStore.setState({ cluster: cluster() });
    render(<LiveBanner />);
    fireEvent.click(screen.getByTestId('live-record'));
    expect(actions.keepObserved).toHaveBeenCalledWith(true);
    fireEvent.click(screen.getByTestId('live-detach'));
    expect(actions.detach).toHaveBeenCalled();
  });
});

describe('ClusterPanel', () => {
  it('says what would appear', () => {
    useStore.setState({ cluster: cluster() });
    render(<ClusterPanel />);
    const text = screen.getByTestId('cluster-panel').textContent;
    for (const words of ['Nothing is stuck', 'appear here after the first look', 'Redis: GET, SCAN']) expect(text).toContain(words);
  });

  it('says that what has ended is no longer kept, and how to keep it', () => {
    useStore.setState({ cluster: cluster({ forgotten: 501 }) });
    render(<ClusterPanel />);
    expect(screen.getByTestId('forgotten').textContent).toBe('501 executions that had ended are no longer kept here, the oldest first. Record keeps all that comes.');
  });

  it('puts what is wrong first and leads to it', async () => {
    useStore.setState({ cluster: cluster({ findings: [STUCK] }), executions: [summary({ execution_id: 'x1', title: 'Order' })] });
    render(<ClusterPanel />);
    const [finding] = screen.getByTestId('findings').children;
    for (const words of ['Order · x1', 'Join cannot open', 'The join “All” waits', 'Run the execution again.', 'exec:x1:all:count']) {
      expect(finding?.textContent).toContain(words);
    }
    fireEvent.click(screen.getByText(/The join “All”/));
    await waitFor(() => expect(useStore.getState().selectedNode).toBe('all'));
    expect(actions.openExecution).toHaveBeenCalledWith('x1');
  });

  it('leaves open what somebody reads while the sentence goes on with time', () => {
    const slow: Finding = { ...STUCK, rule: 'slow_item', key: 'each=6', sentence: 'Fetch runs for 60 s, where others took 1 s.' };
    useStore.setState({ cluster: cluster({ findings: [slow] }) });
    render(<ClusterPanel />);
    const evidence = screen.getByTestId('findings').querySelector('details');
    if (evidence) evidence.open = true;
    screen.getByText(/runs for 60 s/).closest('button')?.focus();
    act(() => useStore.setState({ cluster: cluster({ findings: [{ ...slow, sentence: 'Fetch runs for 61 s, where others took 1 s.' }] }) }));
    expect(screen.getByTestId('findings').querySelector('details')?.open).toBe(true);
    expect(document.activeElement?.textContent).toContain('runs for 61 s');
  });

  it('tells what was delivered twice and what was put aside, and nothing that is not known', () => {
    useStore.setState({ cluster: cluster({ redelivered: 3, dead_letters: 2 }) });
    render(<ClusterPanel />);
    const told = (): string[] => [...screen.getByTestId('deliveries').querySelectorAll('dt, dd')].map((each) => each.textContent ?? '');
    expect(told()).toEqual([
      'Redelivered',
      '3 starts were begun again: their messages, or some that led to them, were delivered twice',
      'Dead letters',
      '2 messages put aside in the parking queue',
    ]);
    act(() => useStore.setState({ cluster: cluster({ dialect: 'rune', dead_letters: null }) }));
    expect(told()).toEqual(['Redelivered', 'None seen', 'Dead letters', 'Rune keeps no dead letters: what a worker refuses is gone']);
    act(() => useStore.setState({ cluster: cluster({ dialect: null, dead_letters: null }) }));
    expect(told()).toEqual(['Redelivered', 'None seen']);
  });

  it('tells queues, workers and memory in numbers and words', () => {
    const families = [{ pattern: 'exec:*:context', keys: 12, bytes: 2_048, without_end: 3 }];
    useStore.setState({
      cluster: cluster({
        queues: [
          { name: 'workflow.timer', messages: 0, consumers: 1, growth: 0 },
          { name: 'workflow.execution', messages: 40, consumers: 0, growth: 2 },
        ],
        workers: [{ name: 'w1', holds: 2, last_seen: 0 }],
        redis: { version: '7.0', used_bytes: 1_000_000, families },
      }),
    });
    render(<ClusterPanel />);
    const cells = screen.getAllByRole('row').map((row) => row.textContent);
    expect(cells).toContain('workflow.execution40 none+2.0 /s growing');
    expect(document.querySelector('.cluster-alarm')).toBeNull();
    const alone: Finding = { ...STUCK, rule: 'no_consumer', queue: 'workflow.execution' };
    act(() => useStore.setState((state) => ({ cluster: state.cluster && { ...state.cluster, findings: [alone] } })));
    expect(document.querySelector('.cluster-alarm')?.textContent).toContain('none');
    expect(screen.getByText('1 other is empty').parentElement?.textContent).toContain('workflow.timer0 1±0 /s empty');
    expect(cells.findIndex((text) => text?.startsWith('workflow.execution'))).toBeLessThan(cells.findIndex((text) => text?.startsWith('workflow.timer')));
    expect(cells.find((text) => text?.startsWith('w12 messages'))).toBeTruthy();
    expect(cells).toContain('exec:*:context122.0 kB 3');
  });
});
