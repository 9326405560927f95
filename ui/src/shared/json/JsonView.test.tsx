import { fireEvent, render, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { JsonView } from './JsonView';
import { isTable, tableOf } from './table';

const ORDERS = { orders: [{ id: 1, goods: 'lamp' }, { id: 2, goods: '<b>tent</b>', rush: true }] };

describe('JsonView', () => {
  it('shows an array of objects as a table, and leads back', () => {
    render(<JsonView value={ORDERS} base="$fetch" label="Output" />);
    fireEvent.click(screen.getByRole('button', { name: 'Show as a table (T)' }));
    expect(screen.getAllByRole('columnheader').map((each) => each.textContent)).toEqual(['#', 'id', 'goods', 'rush']);
    expect(screen.getByText('<b>tent</b>')).toBeTruthy();
    expect(screen.getByText('$.orders')).toBeTruthy();
    fireEvent.keyDown(screen.getByRole('table'), { key: 'Escape' });
    expect(screen.getByRole('tree')).toBeTruthy();
  });

  it('does so with a key', () => {
    render(<JsonView value={ORDERS} base="$fetch" label="Output" />);
    const tree = screen.getByRole('tree');
    fireEvent.keyDown(tree, { key: 'ArrowDown' });
    fireEvent.keyDown(tree, { key: 't' });
    expect(screen.getByRole('table').getAttribute('aria-rowcount')).toBe('3');
  });

  it('draws only the rows in sight', () => {
    const many = Array.from({ length: 10_000 }, (_, id) => ({ id }));
    render(<JsonView value={many} base="$fetch" label="Output" />);
    fireEvent.click(screen.getAllByRole('button', { name: 'Show as a table (T)' })[0] as HTMLElement);
    expect(screen.getAllByRole('row').length).toBeLessThan(100);
  });
});

describe('tables', () => {
  it('are lists of objects and nothing else', () => {
    expect([[], [1], [{}], [{ a: 1 }, null]].map(isTable)).toEqual([false, false, false, false]);
    expect(isTable([{ a: 1 }])).toBe(true);
  });

  it('say how many columns found no room', () => {
    const wide = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`c${index}`, index]));
    expect(tableOf([wide])).toMatchObject({ left: 6 });
  });
});
