import { act, fireEvent, render, screen } from '@testing-library/react';
import { type ReactElement, useState } from 'react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { useFocusKept } from './useFocusKept';

/** A button that goes away when it is used, as Pause does. */
function Page(): ReactElement {
  const [there, setThere] = useState(true);
  useFocusKept();
  return (
    <div className="shell">
      <div className="panels">
        <main>
          <button type="button">first in the middle</button>
          {there && (
            <div>
              <button type="button" onClick={() => setThere(false)}>
                goes
              </button>
            </div>
          )}
        </main>
      </div>
    </div>
  );
}

const microtask = (): Promise<void> => act(async () => void (await Promise.resolve()));

beforeEach(() => {
  // There is no layout here, so everything is drawn.
  vi.spyOn(Element.prototype, 'getClientRects').mockReturnValue([{}] as unknown as DOMRectList);
});

describe('the focus', () => {
  it('moves to what is nearest when its place goes away', async () => {
    render(<Page />);
    const going = screen.getByText('goes');
    going.focus();
    fireEvent.click(going);
    await microtask();
    expect(document.activeElement).toBe(screen.getByText('first in the middle'));
  });

  it('stays where it is when something else goes away', async () => {
    render(<Page />);
    screen.getByText('first in the middle').focus();
    fireEvent.click(screen.getByText('goes'));
    await microtask();
    expect(document.activeElement).toBe(screen.getByText('first in the middle'));
  });
});
