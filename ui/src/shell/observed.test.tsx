/** What runs on a cluster, looked into or kept by this host: whatever cannot be done to it is absent from the whole window. */
import { act, fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { EdgeBreak } from '../canvas/EdgeBreak';
import { Ports } from '../canvas/Ports';
import type { Breakpoint, ExecutionSummary, Request, Response, RunsOn, Workflow } from '../generated/protocol';
import { entriesOf } from '../palette/entries';
import { connect } from '../state/actions';
import { selectNode, showBottom, useStore } from '../state/store';
import { cluster, controlView, detail, entry, held, nodeView, summary, view } from '../testing/fixtures';
import { App } from './App';

const PARCELS: Workflow = {
  nodes: [
    { id: 'each', type: 'split', name: 'Each', parameters: {} },
    { id: 'pack', type: 'log', name: 'Pack', parameters: {} },
  ],
  edges: [{ id: 'a', src: 'each', dst: 'pack' }],
};
const HERE = summary({ path: 'parcels.json' });
/** A host that named the file of the workers would change nothing. */
const THERE = summary({ path: 'parcels.json', observed: { cluster: 'production', dialect: 'rune', joined_late: false, gaps: [] } });
const PLACE = { split: 'each', parent: [] };
const BREAKPOINT: Breakpoint = { place: { type: 'before', node_id: 'pack' } };

let asked: Request[] = [];

function answer(request: Request, seen: ExecutionSummary, runsOn: RunsOn): Response | null {
  switch (request.type) {
    case 'node_detail': {
      const told = detail('pack', { packed: true });
      return { type: 'node_detail', data: { ...told, firings: told.firings.map((each) => ({ ...each, key: 'each=1', start_position: 3, end_position: 4 })) } };
    }
    case 'waits': {
      const keeper = seen.observed || runsOn === 'cluster' ? 'cluster' : 'here';
      const timer = { execution_id: 'x1', title: 'Parcels', node_id: 'pack', name: 'Pack', key: '', due: Date.now() + 60_000, set_at: 0, purpose: { type: 'rest' as const }, keeper: keeper as 'cluster' | 'here' };
      return { type: 'waits', data: { timers: [timer], total: 1, queued: 0, working: true } };
    }
    case 'items':
      return {
        type: 'items',
        data: { execution_id: 'x1', place: PLACE, position: 1, total: 2, chunks: [{ start: 0, states: 'sA' }], groups: [{ node_id: 'pack', code: 'SIMULATED_FAILURE', message: 'torn', count: 1 }] },
      };
    case 'item':
      return {
        type: 'item',
        data: { execution_id: 'x1', place: PLACE, index: 1, key: 'each=1', nodes: { pack: { state: 'failed', retrying: false, due: null } }, edges: ['a'], inner: {}, value: null, error: null },
      };
    case 'controls':
      return { type: 'controls', data: { breakpoints: [BREAKPOINT], mocks: [] } };
    // It answers even where it should not be asked.
    case 'held':
      return { type: 'control', data: controlView([held({ node_id: 'pack' })]) };
    default:
      return null;
  }
}

const settled = (): Promise<void> => act(async () => void (await new Promise((resolve) => setTimeout(resolve, 20))));

/** The whole window at one node of it, with one item chosen. */
async function open(seen: ExecutionSummary, runsOn: RunsOn = 'here'): Promise<void> {
  connect({
    host: { mode: 'web', title: '', readOnly: false },
    call: (request) => {
      asked.push(request);
      const told = answer(request, seen, runsOn);
      return told ? Promise.resolve(told) : new Promise(() => undefined);
    },
    subscribe: () => () => undefined,
  });
  useStore.setState({
    ready: true,
    runsOn,
    connection: { type: 'live' },
    cluster: seen.observed ? cluster() : null,
    workflows: [entry({ path: 'parcels.json', definition: PARCELS })],
    executions: [seen],
    open: { type: 'execution', executionId: 'x1', view: view({ summary: seen, definition: PARCELS, nodes: { pack: nodeView('running') } }) },
    item: { place: PLACE, index: 1, detail: null },
  });
  selectNode('pack');
  render(<App />);
  await settled();
}

function offered(): string[] {
  return [...document.querySelectorAll<HTMLElement>('[data-testid]')].map((each) => each.dataset.testid ?? '');
}

/** Everything that is offered, whichever tab is open. */
async function offeredAnywhere(): Promise<Set<string>> {
  const found: string[] = [];
  for (const tab of ['timeline', 'items', 'waits', 'held', 'breakpoints'] as const) {
    act(() => showBottom(tab));
    await settled();
    found.push(...offered());
  }
  act(() => useStore.setState((state) => ({ control: { ...state.control, aspect: 'node' } })));
  await settled();
  return new Set([...found, ...offered()]);
}

const TOUCHING = [
  ...['run', 'run-paused', 'run-input', 'stop'],
  ...['control-bar', 'control-continue', 'control-pause', 'control-step', 'control-into', 'control-run-to', 'control-back-break'],
  ...['node-control', 'node-breakpoint', 'node-run-to', 'node-pause-node', 'node-run-until', 'node-mock'],
  ...['tab-held', 'held', 'held-inspector', 'edit-parameters', 'tab-breakpoints', 'breakpoints', 'add-breakpoint'],
  ...['pin', 'pin-all', 'fire-pack', 'next-timer'],
];
const FORKING = ['fork-from-its-start', 'fork-from-its-end', 'rerun-item'];
const LOOKING = ['tab-timeline', 'tab-items', 'tab-waits'];

const commandsOf = (): string[] => entriesOf(useStore.getState(), '', () => undefined).filter(({ kind }) => kind === 'Command').map(({ text }) => text);
const FORBIDDEN = /^(Run|Stop|Pause|Continue|Step|Set a breakpoint|Disable|Remove|Let only|Deliver|Drop|Jump to the next timer)|breakpoint|held|mock|\bpin/i;

async function pressAll(): Promise<void> {
  const keys = ['F5', 'F6', 'F9', 'F10', 'F11', 'p', 'P'].flatMap((key) => [
    { key },
    { key, shiftKey: true },
    { key, ctrlKey: true, shiftKey: true },
  ]);
  for (const key of [...keys, { key: 'F10', ctrlKey: true }, { key: 'F5', altKey: true }, { key: 'Enter', ctrlKey: true }]) fireEvent.keyDown(document.body, key);
  await settled();
}

beforeEach(() => {
  asked = [];
});

describe('an execution of a cluster that is looked into', () => {
  it('differs from one that runs here, of which all this is offered', async () => {
    await open(HERE);
    const here = await offeredAnywhere();
    expect([...TOUCHING, ...FORKING, ...LOOKING].filter((id) => !here.has(id))).toEqual([]);
    expect(commandsOf().filter((text) => FORBIDDEN.test(text)).length).toBeGreaterThan(8);
  });

  it('can be looked at, and forked or run again on this machine, and nothing else is there', async () => {
    await open(THERE);
    const there = await offeredAnywhere();
    expect(TOUCHING.filter((id) => there.has(id))).toEqual([]);
    expect([...FORKING, ...LOOKING].filter((id) => !there.has(id))).toEqual([]);
    const commands = commandsOf();
    expect(commands.filter((text) => FORBIDDEN.test(text))).toEqual([]);
    expect(commands).toContain('Fork from this event…');
    expect(screen.queryByText('Fire now')).toBeNull();
  });

  it('hears nothing of any key', async () => {
    await open(THERE);
    await pressAll();
    const touching = ['run', 'cancel', 'control', 'set_controls', 'controls', 'held', 'fork'];
    expect(asked.filter(({ type }) => touching.includes(type))).toEqual([]);
  });

  it('has no places for breakpoints at its nodes and edges', async () => {
    const places = (): number => document.querySelectorAll('.port, .edge-break').length;
    const shown = (
      <>
        <Ports nodeId="pack" title="Pack" offered />
        <svg>
          <EdgeBreak id="a" route={{ points: [{ x: 0, y: 0 }, { x: 90, y: 0 }], label: null }} title="the edge" />
        </svg>
      </>
    );
    const open = (seen: ExecutionSummary): void => useStore.setState({ open: { type: 'execution', executionId: 'x1', view: view({ summary: seen, definition: PARCELS }) } });
    open(HERE);
    render(shown);
    expect(places()).toBe(3);
    act(() => open(THERE));
    expect(places()).toBe(0);
    expect(document.body.textContent).not.toContain('breakpoint');
  });
});

describe('an execution of a cluster whose recordings this host keeps', () => {
  it('can be looked at and stopped, and nothing else is there', async () => {
    await open(HERE, 'cluster');
    const there = await offeredAnywhere();
    expect([...TOUCHING, ...FORKING, 'attach'].filter((id) => there.has(id))).toEqual(['stop']);
    expect(LOOKING.filter((id) => !there.has(id))).toEqual([]);
    const commands = commandsOf();
    expect(commands.filter((text) => FORBIDDEN.test(text) || /fork|re-run|attach/i.test(text))).toEqual(['Stop this execution']);
    expect(screen.queryByText('Fire now')).toBeNull();
  });

  it('hears of no key but the one that stops it', async () => {
    await open(HERE, 'cluster');
    await pressAll();
    const refused = ['run', 'set_controls', 'control', 'fork_preview', 'fork', 'attach', 'save_connection', 'controls', 'held'];
    expect(asked.filter(({ type }) => refused.includes(type))).toEqual([]);
    expect(asked.some(({ type }) => type === 'cancel')).toBe(true);
  });
});
