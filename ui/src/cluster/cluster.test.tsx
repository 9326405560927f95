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

const trouble = (message: string) => ({ code: 'unreachable' as const, message, hint: 'see whether it runs' });

beforeEach(() => {
  vi.resetAllMocks();
  useStore.setState({ ...INITIAL_STATE, connection: { type: 'live' } });
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

  it('does not say LIVE when nobody looks any more', () => {
    const ended = new Date(2026, 0, 1, 2, 58, 11).getTime();
    const full = { code: 'store_full' as const, message: 'what is seen can no longer be kept', hint: 'make room' };
    useStore.setState({ cluster: cluster({ ended, queues_as_of: ended, redis_as_of: ended, troubles: [full] }) });
    render(<LiveBanner />);
    expect(screen.getByTestId('live-word').textContent).toBe('NOT LIVE since 02:58:11');
    expect(screen.getByTestId('live-heard').textContent).toBe('their log is not seen any more');
    expect(screen.queryByTestId('live-record')).toBeNull();
    expect(screen.getByTestId('live-detach')).toBeTruthy();
  });

  it.each([
    { dialect: 'rune' as const, queues: 'NOT LIVE since 02:58:11', redis: 'LIVE' },
    { dialect: 'runeglass' as const, queues: 'LIVE', redis: 'NOT LIVE since 02:58:11' },
    { dialect: null, queues: 'NOT LIVE since 02:58:11', redis: 'NOT LIVE since 02:58:11' },
  ])('does not say LIVE while what tells of $dialect cannot be heard', ({ dialect, queues, redis }) => {
    const at = new Date(2026, 0, 1, 2, 58, 11).getTime();
    const word = (): string | null => screen.getByTestId('live-word').textContent;
    useStore.setState({ cluster: cluster({ dialect, queues_as_of: at }), connection: { type: 'live' } });
    render(<LiveBanner />);
    expect(word()).toBe(queues);
    act(() => useStore.setState({ cluster: cluster({ dialect, redis_as_of: at }) }));
    expect(word()).toBe(redis);
    act(() => useStore.setState({ cluster: cluster({ dialect }) }));
    expect(word()).toBe('LIVE');
  });

  it('offers nothing while nobody is there to do it', () => {
    useStore.setState({ cluster: cluster({ ended: 5_000 }), connection: { type: 'reconnecting', problem: trouble('Runeglass does not answer') } });
    render(<LiveBanner />);
    expect(screen.queryByTestId('live-record')).toBeNull();
    expect(screen.queryByTestId('live-detach')).toBeNull();
  });

  it('leads from the first trouble to all of them', () => {
    useStore.setState({ cluster: cluster({ redis_as_of: 1, troubles: [trouble('the connection to RabbitMQ is gone'), trouble('Redis does not answer')] }) });
    render(<LiveBanner />);
    const button = screen.getByRole('button', { name: 'The connection to RabbitMQ is gone +1 more' });
    expect(screen.getByTestId('live-heard').textContent).toBe('their log cannot be read now');
    fireEvent.click(button);
    expect(useStore.getState().preferences.bottomTab).toBe('cluster');
  });

  it('says before detaching that what is not recorded goes', () => {
    useStore.setState({ cluster: cluster() });
    render(<LiveBanner />);
    expect(screen.getByTestId('live-detach').title).toBe('What was seen and not recorded is gone then');
    act(() => useStore.setState({ cluster: cluster({ recording: true }) }));
    expect(screen.getByTestId('live-detach').title).toBe('');
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

  it('says what is wrong in whole sentences, however they come', () => {
    const answers = { code: 'infrastructure' as const, message: 'Runeglass does not answer.', hint: 'Check that it runs.' };
    useStore.setState({ cluster: cluster({ troubles: [answers, trouble('the connection to RabbitMQ is gone')] }) });
    render(<ClusterPanel />);
    const told = screen.getAllByRole('status').map((each) => each.textContent);
    expect(told).toEqual(['Runeglass does not answer. Check that it runs.', 'The connection to RabbitMQ is gone. See whether it runs.']);
  });

  it('does not say that nothing is stuck while it cannot see', () => {
    useStore.setState({ cluster: cluster({ troubles: [trouble('Redis does not answer')] }) });
    render(<ClusterPanel />);
    expect(screen.getByText('What is stuck cannot be seen at the moment.')).toBeTruthy();
    expect(screen.queryByText(/Nothing is stuck/)).toBeNull();
  });

  it('does not say that nothing is stuck where not everything was heard', () => {
    const missed = { from: 0, until: 1_000, why: 'there was no connection to RabbitMQ', dropped: 0 };
    const seen = { cluster: cluster().connection.name, dialect: 'rune' as const, joined_late: false, gaps: [missed] };
    const other = { ...seen, cluster: 'elsewhere' };
    const whole = { ...seen, gaps: [] };
    const late = { ...whole, dialect: 'runeglass' as const, joined_late: true };
    const goesOn = (execution_id: string, observed: typeof seen | typeof late): ReturnType<typeof summary> => summary({ execution_id, phase: 'running', ended_at: null, observed });
    useStore.setState({ cluster: cluster(), executions: [goesOn('a', other), goesOn('b', whole), goesOn('c', late), { ...goesOn('d', seen), ended_at: 5 }] });
    render(<ClusterPanel />);
    expect(screen.getByText(/Nothing is stuck/)).toBeTruthy();
    act(() => useStore.setState({ executions: [goesOn('a', seen)] }));
    expect(screen.queryByText(/Nothing is stuck/)).toBeNull();
    expect(screen.getByText(/Not everything was heard of 1 execution under way: whether it is stuck/)).toBeTruthy();
  });

  it('says that what has ended is no longer kept, and how to keep it', () => {
    useStore.setState({ cluster: cluster({ forgotten: 501 }) });
    render(<ClusterPanel />);
    expect(screen.getByTestId('forgotten').textContent).toBe('501 executions that had ended are no longer kept here, the oldest first. Record keeps all that comes.');
  });

  it('says of old numbers how old they are', () => {
    const at = new Date(2026, 0, 1, 2, 58, 11).getTime();
    const queues = [{ name: 'workflow.execution', messages: 1_240, consumers: 3, growth: 12.5 }];
    const redis = { version: '7.0', used_bytes: 1, refused: [], families: [] };
    useStore.setState({ cluster: cluster({ queues, redis }) });
    render(<ClusterPanel />);
    expect(screen.queryByText(/as of/)).toBeNull();
    act(() => useStore.setState({ cluster: cluster({ queues, redis, queues_as_of: at, redis_as_of: at + 1_000 }) }));
    expect(screen.getByRole('region', { name: 'Queues' }).textContent).toContain('as of 02:58:11');
    expect(screen.getByRole('region', { name: 'Redis memory' }).textContent).toContain('as of 02:58:12');
  });

  it('does not take what it may not ask for nothing', () => {
    const families = [{ pattern: 'exec:*:log', keys: 12, bytes: null, without_end: null }];
    useStore.setState({ cluster: cluster({ redis: { version: null, used_bytes: null, refused: ['INFO', 'MEMORY USAGE'], families } }) });
    render(<ClusterPanel />);
    const text = screen.getByRole('region', { name: 'Redis memory' }).textContent ?? '';
    expect(text).toContain('not allowed to ask (INFO)');
    expect(text).toContain('exec:*:log12not allowed to asknot allowed to ask');
    expect(text).not.toMatch(/0 B|none/);
  });

  it('tells what cannot be read from what is too much', () => {
    useStore.setState({ cluster: cluster({ passed_over: 2, unreadable: 3 }) });
    render(<ClusterPanel />);
    expect(screen.getByText('2 executions there are not followed: there are too many, or they were over too soon.')).toBeTruthy();
    expect(screen.getByText('3 executions there are not followed: what is kept of them cannot be read.')).toBeTruthy();
  });

  it('counts by the clock of the cluster', () => {
    const workers = [{ name: 'w1', holds: 0, last_seen: Date.now() + 3_600_000 - 60_000 }];
    useStore.setState({ cluster: cluster({ workers, ahead: 3_600_000 }) });
    render(<ClusterPanel />);
    expect(screen.getByText('1 min ago')).toBeTruthy();
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

  it('lets the keyboard in where something leads somewhere', async () => {
    const alone: Finding = { ...STUCK, rule: 'no_consumer', execution_id: null, node_id: null, queue: 'workflow.execution', sentence: 'Nobody takes work.' };
    useStore.setState({ cluster: cluster({ findings: [alone, STUCK] }) });
    render(<ClusterPanel />);
    const stops = [...screen.getByTestId('findings').querySelectorAll<HTMLElement>('[data-roving][tabindex="0"]')];
    expect(stops.map((each) => each.textContent)).toEqual([expect.stringContaining('The join “All”')]);
  });

  it('leads from timers that are told together to the board that has them one by one', () => {
    const overdue: Finding = { ...STUCK, rule: 'overdue_timer', execution_id: null, node_id: null, sentence: '7 timers are overdue.' };
    useStore.setState({ cluster: cluster({ findings: [overdue] }) });
    render(<ClusterPanel />);
    fireEvent.click(screen.getByRole('button', { name: /7 timers are overdue/ }));
    expect(useStore.getState().preferences.bottomTab).toBe('waits');
  });

  it('says behind the last of a kind how many more there are', () => {
    const alone: Finding = { ...STUCK, rule: 'no_consumer', execution_id: null, node_id: null, queue: 'workflow.execution', sentence: 'Nobody takes work.' };
    const shown = cluster({ findings: [STUCK, { ...STUCK, execution_id: 'x2' }, alone], unlisted: { barrier_cannot_open: 450 } });
    useStore.setState({ cluster: shown });
    render(<ClusterPanel />);
    const rows = [...screen.getByTestId('findings').children].map((row) => row.textContent?.includes('and 450 more of this kind'));
    expect(rows).toEqual([false, true, false]);
    render(<LiveBanner />);
    expect(screen.getByTestId('live-findings').textContent).toBe('453 found wrong');
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
      'Heard',
      'Runeglass workers: their log is followed',
      'Redelivered',
      '3 starts were begun again: their messages, or some that led to them, were delivered twice',
      'Dead letters',
      '2 messages put aside in the parking queue',
    ]);
    act(() => useStore.setState({ cluster: cluster({ dialect: 'rune', dead_letters: null }) }));
    expect(told().slice(2)).toEqual(['Redelivered', 'None seen', 'Dead letters', 'Rune keeps no dead letters: what a worker refuses is gone']);
    act(() => useStore.setState({ cluster: cluster({ dialect: null, dead_letters: null }) }));
    expect(told().slice(2)).toEqual(['Redelivered', 'None seen']);
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
        redis: { version: '7.0', used_bytes: 1_000_000, refused: [], families },
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
