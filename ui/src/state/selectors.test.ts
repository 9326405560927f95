import { describe, expect, it } from 'vitest';
import { WORKFLOW, cluster, diagnostic, entry, nodeView, summary, view } from '../testing/fixtures';
import {
  edgeViewOf,
  fileHasChanged,
  ignoredInto,
  followsTheClock,
  lastSeen,
  nodeStateOf,
  runnable,
  runningExecution,
  shownAhead,
  shownDefinition,
  shownDiagnostics,
  stateCounts,
} from './selectors';
import { INITIAL_STATE, type State } from './store';

const state = (more: Partial<State>): State => ({ ...INITIAL_STATE, workflows: [entry()], ...more });
const workflowOpen = { type: 'workflow' as const, path: 'hello.json' };
const executionOpen = { type: 'execution' as const, executionId: 'x1', view: view() };

describe('what is shown', () => {
  it('is the file of an open workflow', () => {
    expect(shownDefinition(state({ open: workflowOpen }))).toBe(WORKFLOW);
  });

  it('is the graph an execution started with', () => {
    const started = { ...WORKFLOW, nodes: [] };
    const open = { ...executionOpen, view: view({ definition: started }) };
    expect(shownDefinition(state({ open }))).toBe(started);
  });

  it('has no states where nothing ran', () => {
    expect(nodeStateOf(state({ open: workflowOpen }), 'start')).toBe('idle');
    expect(edgeViewOf(state({ open: executionOpen }), 'constructor')).toBeUndefined();
    expect(nodeStateOf(state({ open: executionOpen }), 'toString')).toBe('idle');
  });

  it('tells whether the file has changed since', () => {
    expect(fileHasChanged(state({ open: executionOpen }))).toBe(false);
    const changed = state({ open: executionOpen, workflows: [entry({ definition_hash: 'h2', diagnostics: [diagnostic()] })] });
    expect(fileHasChanged(changed)).toBe(true);
    expect(shownDiagnostics(changed)).toEqual([]);
  });
});

describe('runnable', () => {
  it('is ready for a sound file', () => {
    expect(runnable(state({ open: workflowOpen })).type).toBe('ready');
    expect(runnable(state({ open: executionOpen })).type).toBe('ready');
  });

  it('is blocked by errors and says so', () => {
    const workflows = [entry({ diagnostics: [diagnostic(), diagnostic({ severity: 'warning' })] })];
    expect(runnable(state({ open: workflowOpen, workflows }))).toEqual({
      type: 'blocked',
      reason: 'Fix the error in hello.json first.',
    });
  });

  it('is not blocked by warnings', () => {
    const workflows = [entry({ diagnostics: [diagnostic({ severity: 'warning' })] })];
    expect(runnable(state({ open: workflowOpen, workflows })).type).toBe('ready');
  });

  it('is absent in a recording', () => {
    const host = { mode: 'replay' as const, title: 'Hello', readOnly: true };
    expect(runnable(state({ host, open: executionOpen })).type).toBe('absent');
    expect(runningExecution(state({ host, open: executionOpen }))).toBeNull();
  });
});

describe('followsTheClock', () => {
  it('holds only while something runs here and now', () => {
    const ended = { ...executionOpen, view: view({ summary: summary({ phase: 'halted', ended_at: 2_000 }) }) };
    expect(followsTheClock(state({ open: executionOpen }))).toBe(true);
    expect(followsTheClock(state({ open: ended }))).toBe(false);
    expect(followsTheClock(state({ open: workflowOpen }))).toBe(false);
    expect(followsTheClock(state({ open: executionOpen, host: { mode: 'replay', title: '', readOnly: true } }))).toBe(false);
  });

  it('ends with looking at what runs elsewhere', () => {
    const gaps = (until: number | null) => [{ from: 5_000, until, dropped: 0, why: 'nobody looked any more' }];
    const seen = (until: number | null) => ({
      ...executionOpen,
      view: view({ summary: summary({ observed: { cluster: 'production', dialect: 'runeglass', joined_late: false, gaps: gaps(until) } }) }),
    });
    expect(followsTheClock(state({ open: seen(6_000), cluster: cluster() }))).toBe(true);
    expect(followsTheClock(state({ open: seen(null) }))).toBe(false);
    expect(lastSeen(state({ open: seen(null) }))).toBe(5_000);
    const ended = cluster({ ended: 7_000, ahead: 100 });
    expect(followsTheClock(state({ open: seen(6_000), cluster: ended }))).toBe(false);
    expect(lastSeen(state({ open: seen(6_000), cluster: ended }))).toBe(7_100);
    expect(shownAhead(state({ open: executionOpen, cluster: ended }))).toBe(0);
    expect(followsTheClock(state({ open: executionOpen, cluster: ended }))).toBe(true);
  });
});

describe('ignoredInto', () => {
  it('tells by source what a join did not take', () => {
    const edges = { b: { messages: 7, ignored: 3, late: 0, skipped: false }, a: { messages: 1, ignored: 0, late: 0, skipped: false } };
    const open = { ...executionOpen, view: view({ edges }) };
    expect(ignoredInto(state({ open }), 'say')).toBe('3 of 7 from Greet (lost race)');
    expect(ignoredInto(state({ open }), 'greet')).toBeNull();
  });
});

describe('stateCounts', () => {
  it('tells what is tried again from what rests', () => {
    const shown = view({ nodes: { start: nodeView('waiting_timer', { retrying: 1 }), greet: nodeView('waiting_timer') } });
    expect(stateCounts(shown)).toMatchObject({ waiting_timer: 1, retrying: 1, idle: 2 });
  });

  it('counts every node of the graph once', () => {
    const shown = view({ summary: summary(), nodes: { start: nodeView('success'), greet: nodeView('running') } });
    expect(stateCounts(shown)).toEqual({ idle: 2, queued: 0, running: 1, waiting_timer: 0, retrying: 0, waiting_barrier: 0, success: 1, failed: 0, skipped: 0 });
  });
});
