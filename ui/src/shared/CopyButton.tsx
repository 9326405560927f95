import { type ReactElement, useEffect, useState } from 'react';
import { IconButton } from './Button';
import type { IconName } from './icons';

const SHOWN_MILLIS = 1_200;

interface Props {
  label: string;
  /** Made only when it is wanted: the value may be large. */
  text: () => string;
  icon?: IconName;
  tabIndex?: number;
}

export function CopyButton({ label, text, icon = 'copy', tabIndex }: Props): ReactElement {
  const [copied, setCopied] = useState(false);

  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), SHOWN_MILLIS);
    return () => clearTimeout(timer);
  }, [copied]);

  return (
    <IconButton
      icon={copied ? 'check' : icon}
      label={copied ? 'Copied' : label}
      className={copied ? 'copied' : ''}
      tabIndex={tabIndex}
      onClick={(event) => {
        event.stopPropagation();
        void copyText(text()).then(setCopied);
      }}
    />
  );
}

/** False where the browser does not let us; the button then simply does not confirm. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
