/** What ran on a cluster when somebody looked last: nothing in the window may say that it still runs. */
import { act, fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { NodeList } from '../canvas/NodeList';
import { CompareBar } from '../compare/CompareBar';
import { Family } from '../fork/Family';
import { StoryCard } from '../gallery/StoryCard';
import type { ExecutionSummary, Gap, Request, Response } from '../generated/protocol';
import { Inspector } from '../inspector/Inspector';
import { Library } from '../library/Library';
import { entriesOf } from '../palette/entries';
import { OpenTitle } from '../run/OpenTitle';
import { connect } from '../state/actions';
import { selectNode, useStore } from '../state/store';
import { WORKFLOW, cluster, detail, entry, nodeView, summary, view } from '../testing/fixtures';

const LEFT: Gap = { from: 30_000, until: null, dropped: 0, why: 'nobody looked any more' };

function seen(execution_id: string, gaps: Gap[]): ExecutionSummary {
  return summary({ execution_id, observed: { cluster: 'production', dialect: 'rune', joined_late: false, gaps } });
}

function answer(request: Request): Response | null {
  switch (request.type) {
    case 'forks':
      return { type: 'forks', data: [{ execution_id: 'x1', origin: null }, { execution_id: 'x2', origin: { parent: 'x1', position: 4 } }] };
    case 'node_detail':
      return { type: 'node_detail', data: detail(request.node_id, { text: 'Hello' }) };
    default:
      return null;
  }
}

function open(gaps: Gap[]): void {
  const shown = view({ summary: seen('x1', gaps), nodes: { greet: nodeView('success') } });
  useStore.setState({
    ready: true,
    connection: { type: 'live' },
    workflows: [entry()],
    executions: [seen('x1', gaps), seen('x2', gaps)],
    open: { type: 'execution', executionId: 'x1', view: shown },
    compared: { a: 'x1', b: 'x2', answer: null, definition: WORKFLOW, chosen: null },
    selectedNode: null,
  });
}

const WINDOW = (
  <>
    <Library />
    <OpenTitle />
    <CompareBar />
    <Family />
    <NodeList definition={WORKFLOW} />
    <StoryCard entry={entry()} />
    <Inspector />
  </>
);

const palette = (): string[] => entriesOf(useStore.getState(), '', () => undefined).map(({ text }) => text);
const settled = (): Promise<void> => act(async () => void (await new Promise((resolve) => setTimeout(resolve, 20))));

beforeEach(() => {
  connect({
    host: { mode: 'web', title: '', readOnly: false },
    call: (request) => {
      const told = answer(request);
      return told ? Promise.resolve(told) : new Promise(() => undefined);
    },
    subscribe: () => () => undefined,
  });
});

describe.each([
  { when: 'after detaching', gaps: [LEFT], attached: null },
  { when: 'when looking has ended by itself', gaps: [], attached: cluster({ ended: 40_000 }) },
  // A host that ends detaches, and can say nothing more.
  { when: 'when the host has detached and is gone', gaps: [], attached: null },
  { when: 'when another cluster is looked into', gaps: [], attached: cluster({ connection: { ...cluster().connection, name: 'staging' } }) },
])('$when', ({ gaps, attached }) => {
  beforeEach(async () => {
    open(gaps);
    useStore.setState({ cluster: attached });
    render(WINDOW);
    await settled();
  });

  it('nothing in the window says that it runs', () => {
    const text = document.body.textContent ?? '';
    expect(text).not.toMatch(/running(?<!last seen running)|It has not ended/i);
    for (const place of ['execution-x1', 'execution-x2', 'execution-phase', 'compare-bar', 'family-x1', 'family-x2']) {
      expect([place, screen.getByTestId(place).textContent]).toEqual([place, expect.stringContaining('Last seen running')]);
    }
    expect(screen.getByText('Execution last seen running: 1 of 4 nodes finished.')).toBeTruthy();
  });

  it('nor does the palette', () => {
    expect(palette()).toContain('Hello · Last seen running');
    expect(palette()).toContain('Compare with… Hello · Last seen running');
    expect(palette().filter((text) => /· Running/.test(text))).toEqual([]);
  });

  it('nor the choice of what to compare a value with', async () => {
    act(() => selectNode('greet'));
    fireEvent.click(await screen.findByTestId('compare'));
    const options = [...screen.getByTestId('compare-with').querySelectorAll('option')].map((each) => each.textContent);
    expect(options).toEqual([expect.stringContaining('· last seen running ·')]);
  });
});
