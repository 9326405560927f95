import { fireEvent, render, screen } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { JsonTree } from './JsonTree';

const VALUE = { body: { users: [{ name: 'Ada' }] }, html: '<img src=x onerror=alert(1)>' };

function show() {
  const writeText = vi.fn().mockResolvedValue(undefined);
  vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText } });
  render(<JsonTree value={VALUE} base="$fetch" label="Output" />);
  return { tree: screen.getByRole('tree'), writeText };
}

describe('JsonTree', () => {
  it('shows text as text', () => {
    show();
    expect(document.querySelector('img')).toBeNull();
    expect(screen.getByText('"<img src=x onerror=alert(1)>"')).toBeTruthy();
  });

  it('is walked, opened and copied with the keyboard', () => {
    const { tree, writeText } = show();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight']) fireEvent.keyDown(tree, { key });
    fireEvent.keyDown(tree, { key: 'C', ctrlKey: true, shiftKey: true });
    expect(writeText).toHaveBeenLastCalledWith('$.body.users[0]');
    fireEvent.keyDown(tree, { key: 'c', ctrlKey: true, altKey: true });
    expect(writeText).toHaveBeenLastCalledWith('$fetch.body.users[0]');
    fireEvent.keyDown(tree, { key: 'c', ctrlKey: true });
    expect(writeText).toHaveBeenLastCalledWith('{\n  "name": "Ada"\n}');
  });

  it('copies a path and an expression with its buttons', () => {
    const { writeText } = show();
    fireEvent.click(screen.getByRole('button', { name: 'Copy path $.body.users' }));
    expect(writeText).toHaveBeenLastCalledWith('$.body.users');
    fireEvent.click(screen.getByRole('button', { name: 'Copy expression $fetch.body.users' }));
    expect(writeText).toHaveBeenLastCalledWith('$fetch.body.users');
  });

  it('opens the way to a match', () => {
    show();
    expect(screen.queryByText('"Ada"')).toBeNull();
    fireEvent.change(screen.getByRole('textbox'), { target: { value: 'ada' } });
    expect(screen.getByText('"Ada"')).toBeTruthy();
    expect(screen.getByText('1 of 1')).toBeTruthy();
  });
});
