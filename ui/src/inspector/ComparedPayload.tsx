/** A payload, and beside what else it can be seen: other firings of the node, other executions of the file. */
import { type ComponentProps, type ReactElement, useState } from 'react';
import type { FiringView, Node } from '../generated/protocol';
import { IconButton } from '../shared/Button';
import { shownSummary } from '../state/selectors';
import { useStore } from '../state/store';
import { Comparison } from './Comparison';
import { HiddenPayload } from './HiddenPayload';
import { Payload } from './Payload';
import { PinButtons, canPin } from './PinButton';

export type PayloadPart = 'parameters' | 'input' | 'output';

interface Props extends ComponentProps<typeof Payload> {
  part: PayloadPart;
  node: Node;
  firing: FiringView;
  firings: FiringView[];
}

export function ComparedPayload({ part, node, firing, firings, ...rest }: Props): ReactElement {
  const [comparing, setComparing] = useState(false);
  const hidden = useStore((state) => state.preferences.presenter);
  const others = useStore((state) => {
    const mine = shownSummary(state);
    return mine !== null && state.executions.some((each) => each.path === mine.path && each.execution_id !== mine.execution_id);
  });
  if (hidden) return <HiddenPayload />;
  if (comparing) return <Comparison part={part} node={node} firing={firing} firings={firings} onClose={() => setComparing(false)} />;
  const possible = rest.payload.type === 'whole' && (others || firings.length > 1);
  const extra = (
    <>
      {part === 'output' && canPin(node, firing) && <PinButtons node={node} firing={firing} />}
      {possible && <IconButton icon="compare" label="Compare with another…" data-testid="compare" onClick={() => setComparing(true)} />}
    </>
  );
  return <Payload {...rest} extra={extra} />;
}
