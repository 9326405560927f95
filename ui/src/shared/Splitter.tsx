/** The line between two panels: dragged with the pointer, moved with the arrows. */
import { type KeyboardEvent, type PointerEvent, type ReactElement, useRef } from 'react';

const STEP = 16;

interface Props {
  label: string;
  size: number;
  min: number;
  max: number;
  /** The side of the panel the line is at; dragging away from the panel makes it larger. */
  side: 'right' | 'left' | 'top';
  onResize: (size: number) => void;
}

export function Splitter({ label, size, min, max, side, onResize }: Props): ReactElement {
  const drag = useRef<{ from: number; size: number } | null>(null);
  const vertical = side !== 'top';
  const sign = side === 'right' ? 1 : -1;
  const place = (event: PointerEvent): number => (vertical ? event.clientX : event.clientY);

  const start = (event: PointerEvent<HTMLDivElement>): void => {
    event.currentTarget.setPointerCapture(event.pointerId);
    drag.current = { from: place(event), size };
  };
  const move = (event: PointerEvent): void => {
    if (drag.current) onResize(drag.current.size + sign * (place(event) - drag.current.from));
  };
  const end = (): void => {
    drag.current = null;
  };
  const key = (event: KeyboardEvent): void => {
    const next = sizeAfterKey(event.key, { size, min, max, vertical, sign });
    if (next === null) return;
    event.preventDefault();
    onResize(next);
  };

  return (
    <div
      className={`splitter splitter-${vertical ? 'vertical' : 'horizontal'}`}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={vertical ? 'vertical' : 'horizontal'}
      aria-valuenow={size}
      aria-valuemin={min}
      aria-valuemax={max}
      onPointerDown={start}
      onPointerMove={move}
      onPointerUp={end}
      onPointerCancel={end}
      onKeyDown={key}
    />
  );
}

interface Place {
  size: number;
  min: number;
  max: number;
  vertical: boolean;
  sign: number;
}

export function sizeAfterKey(key: string, { size, min, max, vertical, sign }: Place): number | null {
  if (key === 'Home') return min;
  if (key === 'End') return max;
  if (key === (vertical ? 'ArrowRight' : 'ArrowDown')) return size + sign * STEP;
  if (key === (vertical ? 'ArrowLeft' : 'ArrowUp')) return size - sign * STEP;
  return null;
}
