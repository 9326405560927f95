import type { ReactElement } from 'react';
import { IconButton } from '../shared/Button';
import { SIZES } from './geometry';

interface Props {
  /** Null lets the page choose. */
  size: number | null;
  onSize: (size: number | null) => void;
}

export function CellSize({ size, onSize }: Props): ReactElement {
  const at = size === null ? Math.floor(SIZES.length / 2) : SIZES.indexOf(size);
  const move = (by: number): void => onSize(SIZES[Math.min(Math.max(at + by, 0), SIZES.length - 1)] ?? null);
  return (
    <span className="cell-size" role="group" aria-label="Size of the cells">
      <IconButton icon="minus" label="Smaller cells" onClick={() => move(-1)} />
      <IconButton icon="plus" label="Larger cells" onClick={() => move(1)} />
      <IconButton icon="fit" label="Fit the cells" disabled={size === null} onClick={() => onSize(null)} />
    </span>
  );
}
