import { act, fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { ExplanationView, Request } from '../generated/protocol';
import { connect } from '../state/actions';
import { useStore } from '../state/store';
import { nodeView, summary, view } from '../testing/fixtures';
import { Explain } from './Explain';
import { outcomeOf, punctuated, restSentences, slowestSentence, storyOf, waitingSentence } from './words';

const WHOLE: ExplanationView = {
  sentences: [],
  waiting: [{ node_id: 'say', key: '', arrived: 1, expected: 2, missing: [{ what: 'item 1', whereabouts: { state: 'waiting', node_id: 'greet', until: 60_000 } }], more: 3 }],
  critical_path: [
    { node_id: 'start', key: '', position: 2, queue: 0, run: 10, timer: 0 },
    { node_id: 'greet', key: '', position: 4, queue: 5, run: 85, timer: 0 },
  ],
  spent: [{ node_id: 'greet', firings: 3, queue: 5, run: 85, timer: 0, barrier: 0 }],
  node: null,
};

const STORY: ExplanationView = {
  ...WHOLE,
  waiting: [],
  node: {
    node_id: 'say',
    firings: 1,
    failed: 0,
    firing: {
      key: '',
      position: 6,
      set_off_by: 'greet',
      taken: ['b'],
      not_taken: ['oops'],
      conditions: [{ written: '$greet.n > 3', resolved: '4 > 3', held: true }],
      used: [{ parameter: 'expression', reference: '$greet.n', value: 4, node_id: 'greet', position: 5 }],
      error: null,
    },
    not_run: [],
  },
};

const call = vi.fn();

beforeEach(() => {
  call.mockReset();
  call.mockImplementation(async (request: Extract<Request, { type: 'explain' }>) => ({ type: 'explanation', data: request.node_id ? STORY : WHOLE }));
  connect({ host: { mode: 'web', title: '', readOnly: false }, call, subscribe: () => () => undefined });
  useStore.setState({ open: { type: 'execution', executionId: 'x1', view: view({ nodes: { greet: nodeView('running') } }) }, executions: [summary()] });
});

describe('Explain', () => {
  it('says what the whole waits for and where the time went, and leads to nodes', async () => {
    render(<Explain nodeId={null} lineageKey={null} />);
    expect((await screen.findByTestId('why-waiting')).textContent).toBe('say has 1 of 2: item 1 rests in Greet until ' + new Date(60_000).toTimeString().slice(0, 8) + '; and 3 more.');
    expect(screen.getByTestId('why-slowest').textContent).toContain('Greet took most of it: 85 ms at work, 5 ms in the queue, 90 %');
    fireEvent.click(screen.getByTestId('why-slowest').querySelector('button') as HTMLElement);
    expect(useStore.getState().selectedNode).toBe('greet');
  });

  it('names a join that the graph beside it shows, before its reasons are known', async () => {
    call.mockImplementation(async () => ({ type: 'explanation', data: { ...WHOLE, waiting: [] } }));
    const all = (arrived: number) => view({ nodes: { say: nodeView('waiting_barrier', { progress: { arrived, expected: 120 } }) } });
    useStore.setState({ open: { type: 'execution', executionId: 'x1', view: all(20) } });
    render(<Explain nodeId={null} lineageKey={null} />);
    expect((await screen.findByTestId('why-waiting')).textContent).toBe('say has 20 of 120.');
    act(() => useStore.setState({ open: { type: 'execution', executionId: 'x1', view: all(21) } }));
    expect(screen.getByTestId('why-waiting').textContent).toBe('say has 21 of 120.');
  });

  it('shows the way that took longest in the graph, and lets go of it', async () => {
    render(<Explain nodeId={null} lineageKey={null} />);
    fireEvent.click(await screen.findByTestId('show-way'));
    expect(useStore.getState().highlight?.nodes).toEqual(['start', 'greet']);
    fireEvent.click(screen.getByTestId('show-way'));
    expect(useStore.getState().highlight).toBeNull();
  });

  it('tells a node: what set it off, which way it went, and with which values', async () => {
    render(<Explain nodeId="say" lineageKey={null} />);
    const said = (await screen.findByTestId('why-node')).textContent;
    expect(said).toContain('It was set off by Greet.');
    expect(said).toContain('It followed “then” to say and not the way to Say sorry.');
    expect(screen.getByText('$greet.n > 3')).toBeTruthy();
    expect(screen.getByText('4 > 3')).toBeTruthy();
    expect(screen.getByText('True')).toBeTruthy();
    expect(screen.getByText('$greet.n')).toBeTruthy();
  });

  it('asks about the moment that the page shows', async () => {
    useStore.setState({ past: { view: view({ position: 7 }), at: 1_000, last: 9 } });
    render(<Explain nodeId="say" lineageKey="each=1" />);
    await screen.findByTestId('why-node');
    expect(call).toHaveBeenCalledWith({ type: 'explain', execution_id: 'x1', node_id: 'say', key: 'each=1', at: 7 });
  });

  it('names who decided that a node does not run', async () => {
    const sentence = 'sorry does not run: say found "$x" to be true, and followed b';
    const story = { ...STORY, node: { node_id: 'sorry', firings: 0, failed: 0, firing: null, not_run: [{ key: '', decided_by: 'say', position: 6, taken: ['b'], sentence }] } };
    call.mockImplementation(async ({ node_id }: { node_id: string }) => ({ type: 'explanation', data: node_id === 'sorry' ? story : STORY }));
    render(<Explain nodeId="sorry" lineageKey={null} />);
    expect((await screen.findByTestId('why-node')).textContent).toBe('It did not run, because say found "$x" to be true, and followed “then” to say.');
    expect((await screen.findByTestId('why-decision')).textContent).toBe('What was asked in say$greet.n > 34 > 3True');
    expect(screen.getByLabelText('Values it used').textContent).toContain('$greet.n4in expression, from Greet');
  });
});

describe('a node that has not run', () => {
  const waits = { sentence: 'say has not run yet: nothing has reached it', decided_by: null, key: '', position: 1, taken: [] };
  const story = { node_id: 'say', firings: 0, failed: 0, firing: null, not_run: [waits] };

  it('is called it, and not by its id', () => {
    expect(storyOf(story, { ...STORY, waiting: [] }, null, null)).toEqual([['It has not run yet: nothing has reached it.']]);
  });

  it('says what it lacks where something has reached it', () => {
    const [told, ...more] = storyOf(story, WHOLE, null, null);
    expect(told?.[0]).toEqual({ node: 'say' });
    expect(more).toEqual([]);
  });
});

describe('sentences', () => {
  it.each([
    [summary(), 'runs' as const, 2, 'It has not ended: 2 firings, none of them failed so far.'],
    [summary(), 'runs' as const, 0, 'It has not ended: no firing so far.'],
    [summary(), 'left' as const, 2, 'It had not ended when it was seen last: 2 firings, none of them failed until then.'],
    [summary({ ended_at: 3_000 }), 'halted' as const, 2, 'It was halted after 2.00 s with 2 firings, none of them failed.'],
  ])('say how far it came, and do not promise that it goes on', (of, phase, firings, words) => {
    expect(outcomeOf(of, phase, firings, 0)).toEqual([words]);
  });

  it('name what is lost', () => {
    const [first] = WHOLE.waiting;
    const lost = waitingSentence({ ...first, node_id: 'say', key: 'each=1', arrived: 0, expected: 1, more: 0, missing: [{ what: 'item 0', whereabouts: { state: 'lost' } }] });
    expect(lost.filter((word) => typeof word === 'string').join('')).toContain('at each=1 has 0 of 1: item 0 is lost');
  });

  it('name a branch by the node it comes from', () => {
    const missing = [{ what: 'edge e8 from greet', whereabouts: { state: 'waiting' as const, node_id: 'rest', until: 60_000 } }];
    const words = waitingSentence({ node_id: 'say', key: '', arrived: 1, expected: 2, missing, more: 0 });
    const until = new Date(60_000).toTimeString().slice(0, 8);
    expect(words.map((word) => (typeof word === 'object' && 'node' in word ? `<${word.node}>` : word)).join('')).toBe(
      `<say> has 1 of 2: the branch from <greet> rests in <rest> until ${until}.`,
    );
  });

  it('tell what rests, the first to go on first', () => {
    const { counts } = nodeView('idle');
    const later = nodeView('waiting_timer', { due: Date.UTC(2030, 0, 2), counts: { ...counts, waiting: 12 } });
    const sooner = nodeView('waiting_timer', { due: Date.UTC(2030, 0, 1), counts: { ...counts, waiting: 1 } });
    const told = restSentences(view({ nodes: { greet: later, say: sooner, start: nodeView('success') } }));
    expect(told.map(([who]) => who)).toEqual([{ node: 'say' }, { node: 'greet' }]);
    expect(told.map(([, what]) => what)).toEqual([
      expect.stringMatching(/^ rests until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.$/),
      expect.stringMatching(/^ rests at 12 keys, the first until /),
    ]);
    expect(restSentences(view({ nodes: { say: sooner } }), ['say'])).toEqual([[{ node: 'say' }, expect.stringMatching(/^ will never go on: its timer was claimed/)]]);
    expect(restSentences(null)).toEqual([]);
  });

  it('name a lost branch so too', () => {
    const missing = [{ what: 'edge c from greet', whereabouts: { state: 'lost' as const } }];
    const words = waitingSentence({ node_id: 'say', key: '', arrived: 1, expected: 2, missing, more: 0 });
    expect(words.map((word) => (typeof word === 'object' && 'node' in word ? `<${word.node}>` : word)).join('')).toBe(
      '<say> has 1 of 2: the branch from <greet> is lost: nothing of it is under way any more.',
    );
  });

  it('call nothing lost that may have gone by unheard', () => {
    const unseen = (what: string) => ({ what, whereabouts: { state: 'unseen' as const } });
    const words = waitingSentence({ node_id: 'say', key: '', arrived: 1, expected: 3, missing: [unseen('item 1'), unseen('item 2')], more: 0 });
    expect(words).toEqual([{ node: 'say' }, ' has 1 of 3: ', '', 'items 1 and 2', ' were not seen, and not everything was heard', '.']);
  });

  it('name a place once, however much is there', () => {
    const running = (index: number) => ({ what: `item ${index}`, whereabouts: { state: 'running' as const, node_id: 'greet', since: 60_000 + index } });
    const missing = [running(7), running(2), { what: 'item 4', whereabouts: { state: 'lost' as const } }, running(9)];
    const words = waitingSentence({ node_id: 'say', key: '', arrived: 1, expected: 9, missing, more: 4 });
    const since = new Date(60_002).toTimeString().slice(0, 8);
    expect(words.map((word) => (typeof word === 'object' && 'node' in word ? `<${word.node}>` : word)).join('')).toBe(
      `<say> has 1 of 9: items 7, 2 and 9 are at work in <greet>, the first since ${since}; item 4 is lost: nothing of it is under way any more; and 4 more.`,
    );
  });

  it('have words for no time and for nothing', () => {
    expect(slowestSentence([])).toEqual(['Nothing has run yet.']);
    expect(slowestSentence([{ node_id: 'a', key: '', position: 1, queue: 0, run: 0, timer: 0 }])).toEqual(['It took no time that could be measured.']);
  });
});

describe('a sentence', () => {
  it('keeps the comma behind a node with the node', () => {
    const spoken = punctuated([{ node: 'a' }, ', then ', { code: 'b' }, ', and ', { node: 'c' }, '.']);
    expect(spoken.map(({ word, end }) => [word, end])).toEqual([
      [{ node: 'a' }, ','],
      [' then ', ''],
      [{ code: 'b' }, ''],
      [', and ', ''],
      [{ node: 'c' }, '.'],
      ['', ''],
    ]);
  });
});
