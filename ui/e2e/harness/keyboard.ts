/** A person without a pointer: every key is pressed, and the eye always finds where it is. */
import { expect } from 'vitest';
import type { Stage } from './stage';

/** More stops than this on the way to something are no way. */
const MOST_STOPS = 80;

export interface Standing {
  /** What has the focus, for people. */
  what: string;
  /** Nothing has it. */
  lost: boolean;
  /** One sees that it has it: by a ring of its own, or by one around it. */
  seen: boolean;
}

export class Keyboard {
  private readonly stage: Stage;

  constructor(stage: Stage) {
    this.stage = stage;
  }

  /** Presses a key, and looks where that has led. */
  async press(key: string): Promise<Standing> {
    await this.stage.page.keyboard.press(key);
    return this.isThere(`after ${key}`);
  }

  async type(text: string): Promise<void> {
    await this.stage.page.keyboard.insertText(text);
    await this.isThere(`after writing ${text}`);
  }

  /** With Tab alone, forwards or back, to what a selector names. */
  async walkTo(selector: string, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
    const passed: string[] = [];
    for (let stop = 0; stop < MOST_STOPS; stop += 1) {
      if (await this.isAt(selector)) return;
      passed.push((await this.step(key)).what);
    }
    throw new Error(`${key} does not lead to ${selector}; it came by ${passed.join(' · ')}`);
  }

  /** From its end Tab leads out of the page, as in every page, and the next one in again. */
  private async step(key: string): Promise<Standing> {
    await this.stage.page.keyboard.press(key);
    if ((await this.look()).lost) await this.stage.page.keyboard.press(key);
    return this.isThere(`after ${key}`);
  }

  isAt(selector: string): Promise<boolean> {
    return this.stage.page.evaluate((wanted) => document.activeElement?.matches(wanted) === true || document.activeElement?.closest(`${wanted}:focus-within`) != null, selector);
  }

  /** What has the focus may go away a moment after the key; then the focus must have gone on. */
  async isThere(when: string): Promise<Standing> {
    const standing = await this.stage.soon(`the focus to be somewhere ${when}`, async () => {
      const now = await this.look();
      return now.lost ? null : now;
    }, 2_000);
    expect(`${when}: ${standing.what} ${standing.seen ? 'is seen' : 'is not seen'}`).toBe(`${when}: ${standing.what} is seen`);
    return standing;
  }

  private look(): Promise<Standing> {
    return this.stage.page.evaluate(() => {
      const page = document.activeElement;
      const inner = page?.shadowRoot?.activeElement ?? page;
      if (!page || !inner || page === document.body) return { what: 'nothing', lost: true, seen: false };
      const ringed = (element: Element): boolean => {
        const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
        return (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0) || boxShadow !== 'none';
      };
      const box = page.getBoundingClientRect();
      const inSight = box.width > 0 && box.height > 0 && box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth;
      // A field may leave its ring to the frame it stands in.
      const frame = page.parentElement?.matches(':focus-within') ? page.parentElement : page;
      const seen = inSight && (ringed(page) || ringed(inner) || (page.matches('input, select') && ringed(frame)));
      const name = page.getAttribute('data-testid') ?? page.getAttribute('aria-label') ?? page.textContent ?? '';
      return { what: `${page.tagName.toLowerCase()} “${name.trim().slice(0, 40)}”`, lost: false, seen };
    });
  }
}
