import { render } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import type { NodeState } from '../generated/protocol';
import { STATE_WORDS, StateIcon } from './states';

describe('the vocabulary of states', () => {
  it('needs no colour: every state has a shape and a word of its own', () => {
    const states = Object.keys(STATE_WORDS) as NodeState[];
    const shapes = states.map((state) => {
      const { container } = render(<StateIcon state={state} />);
      return [...container.querySelectorAll('svg > *')].map((part) => part.outerHTML).join('');
    });
    expect(shapes).not.toContain('');
    expect(new Set(shapes).size).toBe(states.length);
    expect(new Set(Object.values(STATE_WORDS)).size).toBe(states.length);
  });
});
