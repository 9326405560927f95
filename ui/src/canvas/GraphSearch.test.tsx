import { fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { useStore } from '../state/store';
import { WORKFLOW, entry } from '../testing/fixtures';
import { GraphSearch } from './GraphSearch';
import { foundNodes } from './search';

beforeEach(() => {
  useStore.setState({ workflows: [entry()], open: { type: 'workflow', path: 'hello.json' } });
  render(<GraphSearch />);
});

const write = (value: string): void => {
  fireEvent.keyDown(document.body, { key: 'f' });
  fireEvent.change(screen.getByTestId('graph-search-field'), { target: { value } });
};

describe('GraphSearch', () => {
  it('goes from one match to the next, and back to the first', () => {
    write('log');
    expect(screen.getByRole('status').textContent).toBe('2 found');
    const field = screen.getByTestId('graph-search-field');
    const selected = [1, 2, 3].map(() => {
      fireEvent.keyDown(field, { key: 'Enter' });
      return useStore.getState().selectedNode;
    });
    expect(selected).toEqual(['say', 'sorry', 'say']);
    fireEvent.keyDown(field, { key: 'Escape' });
    expect(screen.queryByTestId('graph-search')).toBeNull();
    expect(useStore.getState().search).toBeNull();
  });

  it('opens with Ctrl+F from anywhere', () => {
    fireEvent.keyDown(document.body, { key: 'f', ctrlKey: true });
    expect(screen.getByTestId('graph-search')).toBeTruthy();
  });

  it('says when nothing is found', () => {
    write('nobody');
    expect(screen.getByRole('status').textContent).toBe('none');
  });
});

describe('foundNodes', () => {
  it('looks at titles, ids, kinds and parameters', () => {
    expect(foundNodes(WORKFLOW, 'sorry')).toEqual(['sorry']);
    expect(foundNodes(WORKFLOW, '$TRIGGER.name')).toEqual(['greet']);
    expect(foundNodes(WORKFLOW, ' ')).toEqual([]);
    expect(foundNodes(null, 'x')).toEqual([]);
  });
});
