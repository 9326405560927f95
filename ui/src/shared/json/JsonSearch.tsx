import type { ReactElement, ReactNode } from 'react';
import { IconButton } from '../Button';
import { Icon } from '../icons';
import { MOST_MATCHES } from './search';

interface Props {
  wanted: string;
  count: number;
  index: number;
  onChange: (wanted: string) => void;
  onStep: (by: number) => void;
  children?: ReactNode;
}

export function JsonSearch({ wanted, count, index, onChange, onStep, children }: Props): ReactElement {
  return (
    <div className="json-search" role="search">
      <Icon name="search" size={14} />
      <input
        type="text"
        value={wanted}
        placeholder="Search keys and values"
        aria-label="Search keys and values"
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onStep(event.shiftKey ? -1 : 1);
          if (event.key === 'Escape' && wanted !== '') {
            event.stopPropagation();
            onChange('');
          }
        }}
      />
      {wanted.trim() !== '' && (
        <>
          <span className="json-count" aria-live="polite">
            {count === 0 ? 'none' : `${index + 1} of ${count}${count >= MOST_MATCHES ? '+' : ''}`}
          </span>
          <IconButton icon="up" label="Previous match" disabled={count === 0} onClick={() => onStep(-1)} />
          <IconButton icon="down" label="Next match" disabled={count === 0} onClick={() => onStep(1)} />
        </>
      )}
      {wanted.trim() === '' && children}
    </div>
  );
}
