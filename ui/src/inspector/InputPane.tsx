import { type ReactElement, useMemo, useState } from 'react';
import type { FiringView, Node, PayloadView } from '../generated/protocol';
import { Segments } from '../shared/Segments';
import { shownDefinition } from '../state/selectors';
import { useStore } from '../state/store';
import { ComparedPayload } from './ComparedPayload';
import { UsedInputs } from './UsedInputs';
import { usedInputs } from './usedInputs';

interface Props {
  node: Node;
  firing: FiringView;
  firings: FiringView[];
  input: PayloadView;
  fileName: string;
}

/** First what the node reads and where it comes from, then everything it could have read. */
export function InputPane({ node, firing, firings, input, fileName }: Props): ReactElement {
  const definition = useStore(shownDefinition);
  const hidden = useStore((state) => state.preferences.presenter);
  const used = useMemo(() => usedInputs(node, definition), [node, definition]);
  const [part, setPart] = useState<'used' | 'all'>('used');
  const whole = <ComparedPayload part="input" base="" label="Input" node={node} firing={firing} firings={firings} payload={input} fileName={fileName} />;
  if (used.length === 0) return whole;
  return (
    <>
      <Segments
        label="Show of the input"
        active={part}
        options={[
          { id: 'used', label: `Reads ${used.length}` },
          { id: 'all', label: 'Everything it saw' },
        ]}
        onSelect={setPart}
      />
      {part === 'used' ? <UsedInputs inputs={used} context={input} hidden={hidden} /> : whole}
    </>
  );
}
