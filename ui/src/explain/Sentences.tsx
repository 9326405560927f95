import type { ReactElement } from 'react';
import { NodeLink } from '../shared/NodeLink';
import { nodeById, shownDefinition } from '../state/selectors';
import { selectNode, useStore } from '../state/store';
import { type Punctuated, type Sentence, punctuated } from './words';

export function Sentences({ of, testId }: { of: readonly Sentence[]; testId?: string }): ReactElement | null {
  if (of.length === 0) return null;
  return (
    <ul className="why-sentences" data-testid={testId}>
      {of.map((sentence, index) => (
        <li key={index}>
          {punctuated(sentence).map(({ word, end }, place) => (
            <Part key={place} word={word} end={end} />
          ))}
        </li>
      ))}
    </ul>
  );
}

function Part({ word, end }: Punctuated): ReactElement {
  if (typeof word === 'string') return <>{word}</>;
  return 'code' in word ? <code>{word.code}</code> : <Named nodeId={word.node} end={end} />;
}

export function Named({ nodeId, end }: { nodeId: string; end?: string }): ReactElement {
  const node = useStore((state) => nodeById(shownDefinition(state), nodeId));
  return <NodeLink node={node} nodeId={nodeId} onSelect={selectNode} end={end} />;
}
