import { render } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import type { EdgeView, NodeState } from '../generated/protocol';
import { INITIAL_STATE, useStore } from '../state/store';
import { nodeView, view } from '../testing/fixtures';
import { IgnoredNote, edgeLook } from './RouteEdge';

describe('edgeLook', () => {
  it.each<[EdgeView | null, NodeState, string]>([
    [null, 'idle', 'plain'],
    [{ messages: 0, ignored: 0, late: 0, skipped: false }, 'running', 'plain'],
    [{ messages: 1, ignored: 0, late: 0, skipped: false }, 'running', 'active'],
    [{ messages: 1, ignored: 0, late: 0, skipped: false }, 'success', 'taken'],
    [{ messages: 0, ignored: 0, late: 0, skipped: true }, 'skipped', 'skipped'],
    [{ messages: 2, ignored: 0, late: 0, skipped: true }, 'success', 'taken'],
    [{ messages: 2, ignored: 2, late: 0, skipped: false }, 'success', 'ignored'],
    [{ messages: 2, ignored: 1, late: 0, skipped: false }, 'success', 'taken'],
  ])('of %j into a node that is %s is %s', (edge, state, look) => {
    const shown = view({ nodes: { greet: nodeView(state) }, edges: edge ? { a: edge } : {} });
    const open = { type: 'execution' as const, executionId: 'x1', view: shown };
    expect(edgeLook({ ...INITIAL_STATE, open }, 'a', 'greet')).toBe(look);
  });
});

describe('IgnoredNote', () => {
  const corners = [{ x: 0, y: 0 }, { x: 20, y: 0 }, { x: 20, y: 50 }, { x: 120, y: 50 }];

  function show(edge: EdgeView, route = { points: corners, label: null as { x: number; y: number } | null }, labelled = false) {
    const greet = nodeView('success');
    useStore.setState({ open: { type: 'execution', executionId: 'x1', view: view({ nodes: { greet }, edges: { a: edge } }) } });
    return render(<svg><IgnoredNote id="a" route={route} labelled={labelled} /></svg>).container;
  }

  it('says how many came too late, and why', () => {
    const note = show({ messages: 1, ignored: 1, late: 0, skipped: false });
    expect(note.querySelector('text')?.textContent).toBe('1 lost race');
    expect(note.querySelector('title')?.textContent).toBe('1 lost race: “Greet” already had its winner');
  });

  it('tells a part from the whole, and a join that gave up from one that was served', () => {
    const note = show({ messages: 7, ignored: 3, late: 3, skipped: false });
    expect(note.querySelector('text')?.textContent).toBe('3 too late');
    expect(note.querySelector('title')?.textContent).toBe('3 of 7 too late: “Greet” had given up waiting');
  });

  it('tells both where both happened, at different keys', () => {
    const note = show({ messages: 7, ignored: 3, late: 1, skipped: false });
    expect(note.querySelector('title')?.textContent).toBe(
      '3 of 7 not taken: 2 lost the race: “Greet” already had its winner; 1 came too late: “Greet” had given up waiting',
    );
  });

  it('says nothing where everything was taken', () => {
    expect(show({ messages: 7, ignored: 0, late: 0, skipped: false }).querySelector('text')).toBeNull();
  });

  it('stands on the longest level piece, in the room that was kept, or below the label', () => {
    const edge = { messages: 1, ignored: 1, late: 0, skipped: false };
    const place = (container: HTMLElement) => container.querySelector('.route-words')?.getAttribute('transform');
    expect(place(show(edge))).toBe('translate(70 50)');
    expect(place(show(edge, { points: corners, label: { x: 5, y: 6 } }))).toBe('translate(5 6)');
    expect(place(show(edge, { points: corners, label: { x: 5, y: 6 } }, true))).toBe('translate(5 26)');
  });
});
