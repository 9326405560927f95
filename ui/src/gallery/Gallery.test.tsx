import { fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Bridge } from '../bridge/bridge';
import { connect } from '../state/actions';
import { useStore } from '../state/store';
import { WORKFLOW, diagnostic, entry, summary } from '../testing/fixtures';
import { Gallery } from './Gallery';
import { sketchOf } from './sketch';
import { traitsOf } from './traits';

const call = vi.fn<Bridge['call']>();

beforeEach(() => {
  call.mockReset();
  call.mockReturnValue(new Promise(() => undefined));
  connect({ host: { mode: 'web', title: '', readOnly: false }, call, subscribe: () => () => undefined });
  useStore.setState({ ready: true, folder: 'workflows', workflows: [entry(), entry({ path: 'bad.json', title: 'Bad', diagnostics: [diagnostic()] })] });
});

describe('Gallery', () => {
  it('tells every story and runs it with one click', () => {
    render(<Gallery />);
    expect(screen.getByTestId('story-hello.json').textContent).toContain('Greets whoever starts it.');
    fireEvent.click(screen.getByTestId('story-run-hello.json'));
    expect(call).toHaveBeenCalledWith({ type: 'run', path: 'hello.json' });
  });

  it('opens a workflow without running it', () => {
    render(<Gallery />);
    fireEvent.click(screen.getByText('Bad'));
    expect(useStore.getState().open).toEqual({ type: 'workflow', path: 'bad.json' });
    expect(call).not.toHaveBeenCalled();
  });

  it('says what is wrong and what came of the last time', () => {
    useStore.setState({ executions: [summary({ phase: 'completed' })] });
    render(<Gallery />);
    expect(screen.getByTestId('story-bad.json').textContent).toContain('1 error in the file');
    expect((screen.getByTestId('story-run-bad.json') as HTMLButtonElement).disabled).toBe(true);
    expect(screen.getByTestId('story-hello.json').textContent).toContain('Completed');
  });

  it('says what to do where there is nothing', () => {
    useStore.setState({ workflows: [] });
    render(<Gallery />);
    expect(screen.getByTestId('first-workflow').textContent).toContain('"type": "trigger"');
  });

  it('says how to get one where there is no folder', () => {
    useStore.setState({ workflows: [], folder: '' });
    render(<Gallery recent={<p>what was open before</p>} />);
    expect(screen.getByText('No folder of workflows')).toBeTruthy();
    expect(screen.getByText('what was open before')).toBeTruthy();
  });
});

describe('sketchOf', () => {
  it('puts every node after those before it', () => {
    const { spots, lines } = sketchOf(WORKFLOW);
    expect(spots).toHaveLength(4);
    expect(lines.every(({ from, to }) => from.x < to.x)).toBe(true);
  });

  it('goes on below where a line would be too long to be made out', () => {
    const nodes = Array.from({ length: 12 }, (_, index) => ({ id: `n${index}`, type: 'log', parameters: {} }));
    const edges = nodes.slice(1).map(({ id }, index) => ({ id: `e${index}`, src: `n${index}`, dst: id }));
    const { spots, lines, width, gaps } = sketchOf({ nodes, edges });
    expect(spots.map(({ band }) => band)).toEqual([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]);
    expect(lines.filter(({ from, to }) => from.band !== to.band)).toHaveLength(1);
    expect(spots.every(({ x, y, band }) => x + 26 <= width && (band === 0 || y > (gaps[1] ?? 0)))).toBe(true);
  });

  it('survives a cycle and edges to nowhere', () => {
    const edges = [...WORKFLOW.edges, { id: 'back', src: 'sorry', dst: 'greet' }, { id: 'lost', src: 'say', dst: 'nobody' }];
    expect(sketchOf({ ...WORKFLOW, edges }).spots).toHaveLength(4);
    expect(sketchOf({ nodes: [], edges: [] }).spots).toEqual([]);
  });
});

describe('traitsOf', () => {
  it('tells a story of failures from one of races', () => {
    expect(traitsOf(WORKFLOW)).toEqual(['failures']);
    const race = { id: 'first', type: 'merge', parameters: { wait_mode: 'wait_for_any' } };
    expect(traitsOf({ nodes: [race], edges: [] })).toEqual(['race', 'joins']);
  });
});

describe('on a cluster', () => {
  it('says what there is to see, and how something starts', () => {
    useStore.setState({ runsOn: 'cluster', executions: [] });
    render(<Gallery />);
    expect(screen.getByTestId('cluster-welcome').textContent).toContain('Waiting for the first execution');
    expect(screen.queryByTestId('gallery')).toBeNull();
  });
});
