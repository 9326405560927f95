import { type ReactElement, useState } from 'react';
import type { FiringView, Node } from '../generated/protocol';
import { isEqual } from '../shared/json/diff';
import { JsonDiff } from '../shared/json/JsonDiff';
import { Segments } from '../shared/Segments';
import { ComparedPayload } from './ComparedPayload';
import { Json } from './Json';

type Way = 'resolved' | 'written' | 'change';

interface Props {
  node: Node;
  firing: FiringView | null;
  firings: FiringView[];
  fileName: string;
}

/** What the author wrote, what became of it, and what of it was filled in. */
export function ParametersPane({ node, firing, firings, fileName }: Props): ReactElement {
  const [wish, setWay] = useState<Way>('resolved');
  const resolved = firing?.parameters ?? null;
  if (resolved === null || firing === null) return <Written node={node} />;
  const options: { id: Way; label: string }[] = [{ id: 'resolved', label: 'Resolved' }];
  // Of a node that the author left empty, what it used comes from elsewhere: nothing was written, and nothing filled in.
  const written = Object.keys(node.parameters).length > 0;
  if (written) options.push({ id: 'written', label: 'As written' });
  if (written && resolved.type === 'whole' && !isEqual(resolved.data.json, node.parameters)) options.push({ id: 'change', label: 'Filled in' });
  const way = options.some(({ id }) => id === wish) ? wish : 'resolved';
  return (
    <>
      {options.length > 1 && <Segments label="Parameters as" active={way} options={options} onSelect={setWay} />}
      {way === 'written' && <Written node={node} />}
      {way === 'change' && resolved.type === 'whole' && <JsonDiff before={node.parameters} after={resolved.data.json} label="What was filled in" />}
      {way === 'resolved' && (
        <ComparedPayload part="parameters" base={null} label="Resolved parameters" node={node} firing={firing} firings={firings} payload={resolved} fileName={fileName} />
      )}
    </>
  );
}

function Written({ node }: { node: Node }): ReactElement {
  return <Json key="raw" value={node.parameters} base={null} label="Parameters as written" />;
}
