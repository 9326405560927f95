import type { ReactElement } from 'react';
import { NodeLink } from '../shared/NodeLink';
import { nodeById, shownDefinition } from '../state/selectors';
import { selectNode, useStore } from '../state/store';
import type { Sentence, Word } from './words';

export function Sentences({ of, testId }: { of: readonly Sentence[]; testId?: string }): ReactElement | null {
  if (of.length === 0) return null;
  return (
    <ul className="why-sentences" data-testid={testId}>
      {of.map((sentence, index) => (
        <li key={index}>
          {sentence.map((word, place) => (
            <Part key={place} word={word} />
          ))}
        </li>
      ))}
    </ul>
  );
}

function Part({ word }: { word: Word }): ReactElement {
  if (typeof word === 'string') return <>{word}</>;
  return 'code' in word ? <code>{word.code}</code> : <Named nodeId={word.node} />;
}

export function Named({ nodeId }: { nodeId: string }): ReactElement {
  const node = useStore((state) => nodeById(shownDefinition(state), nodeId));
  return <NodeLink node={node} nodeId={nodeId} onSelect={selectNode} />;
}
