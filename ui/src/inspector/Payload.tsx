import type { ReactElement, ReactNode } from 'react';
import type { PayloadView } from '../generated/protocol';
import { Button, IconButton } from '../shared/Button';
import { CopyButton } from '../shared/CopyButton';
import { formatBytes } from '../shared/format';
import { textOf } from '../shared/json/JsonRow';
import { saveText } from '../shared/save';
import { useStore } from '../state/store';
import { Json } from './Json';

interface Props {
  payload: PayloadView;
  base: string | null;
  label: string;
  /** Without its ending: names the node and the item, so that saved files can be told apart. */
  fileName: string;
  /** More that can be done with it. */
  extra?: ReactNode;
}

/** A whole payload as a tree; a cut one as the text there is, with its true size. */
export function Payload({ payload, base, label, fileName, extra }: Props): ReactElement {
  const canSave = useStore((state) => state.host.mode !== 'desktop');
  const { bytes } = payload.data;
  if (payload.type === 'whole') {
    const aside = (
      <span className="payload-bar">
        <span className="numbers">{formatBytes(bytes)}</span>
        {extra}
        <CopyButton label="Copy all" text={() => textOf(payload.data.json)} />
        {canSave && <IconButton icon="save" label="Save as a file" onClick={() => saveText(`${fileName}.json`, textOf(payload.data.json))} />}
      </span>
    );
    return <Json value={payload.data.json} base={base} label={label} aside={aside} />;
  }
  return (
    <div className="payload">
      <div className="payload-cut" role="note">
        <p>
          Too large to show: {formatBytes(bytes)} in all, the first {formatBytes(sizeOf(payload.data.text))} are below.
        </p>
        <CopyButton label="Copy what is shown" text={() => payload.data.text} />
      </div>
      {canSave && (
        <Button onClick={() => saveText(`${fileName}.part.json`, payload.data.text)}>Save this part</Button>
      )}
      <pre className="payload-text" tabIndex={0}>
        {payload.data.text}
      </pre>
    </div>
  );
}

function sizeOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
