/** The vocabulary of comparisons: an icon, a word and a colour, as for states. */
import type { ReactElement } from 'react';
import './words.css';

export type ShownVerdict = 'equal' | 'changed' | 'only_a' | 'only_b' | 'slower' | 'neither';

export const VERDICT_WORDS: { [K in ShownVerdict]: string } = {
  equal: 'Equal',
  changed: 'Changed',
  only_a: 'Only in A',
  only_b: 'Only in B',
  slower: 'Slower in B',
  neither: 'In neither',
};

const GLYPHS: { [K in ShownVerdict]: string } = {
  equal: 'M3.5 6h9M3.5 10h9',
  changed: 'M3.5 6h9M3.5 10h9M10.5 3l-5 10',
  only_a: 'M3.5 8h9',
  only_b: 'M3.5 8h9M8 3.5v9',
  slower: 'M8 2.75a5.25 5.25 0 1 0 0 10.5 5.25 5.25 0 0 0 0-10.5zM8 5v3.2l2.2 1.6',
  neither: 'M8 2.75a5.25 5.25 0 1 0 0 10.5 5.25 5.25 0 0 0 0-10.5zM4.3 11.7l7.4-7.4',
};

export function VerdictLabel({ verdict }: { verdict: ShownVerdict }): ReactElement {
  return (
    <span className={`verdict verdict-${verdict}`}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={GLYPHS[verdict]} />
      </svg>
      <span className="verdict-word">{VERDICT_WORDS[verdict]}</span>
    </span>
  );
}

/** Which of both; A is square and B is round, so that they are told apart without their colours. */
export function Side({ side }: { side: 'a' | 'b' }): ReactElement {
  return (
    <span className={`side side-${side}`} aria-hidden="true">
      {side.toUpperCase()}
    </span>
  );
}
