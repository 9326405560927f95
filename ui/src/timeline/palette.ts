import type { Palette } from './paint';

export function paletteInForce(): Palette {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  return {
    queue: colour('--line-strong'),
    run: colour('--state-running'),
    wait: colour('--state-waiting'),
    failed: colour('--state-failed'),
    line: colour('--line-soft'),
    faint: colour('--text-faint'),
    ground: colour('--surface'),
  };
}
