import { describe, expect, it } from 'vitest';
import { kindIcon } from './icons';

describe('kindIcon', () => {
  it('tells the kinds that steer apart', () => {
    const icons = ['split', 'aggregator', 'merge', 'wait', 'switch', 'conditional'].map(kindIcon);
    expect(new Set(icons).size).toBe(icons.length);
    expect(icons).not.toContain('node');
  });

  it('knows aliases, and takes what it does not know as a plain node', () => {
    expect(kindIcon('if')).toBe('conditional');
    expect(kindIcon('carrier-pigeon')).toBe('node');
    expect(kindIcon('constructor')).toBe('node');
  });
});
