import type { ReactElement } from 'react';

interface Props<T extends string> {
  label: string;
  active: T;
  options: { id: T; label: string }[];
  onSelect: (id: T) => void;
}

/** A few ways to see the same thing, one at a time. */
export function Segments<T extends string>({ label, active, options, onSelect }: Props<T>): ReactElement {
  return (
    <div className="segments" role="group" aria-label={label}>
      {options.map((option) => (
        <button key={option.id} type="button" aria-pressed={option.id === active} onClick={() => onSelect(option.id)}>
          {option.label}
        </button>
      ))}
    </div>
  );
}
