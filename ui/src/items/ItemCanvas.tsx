/** All items of a fan-out, one cell each. What is in sight is drawn as one image; what is not costs nothing. */
import { type KeyboardEvent, type PointerEvent, type ReactElement, useCallback, useEffect, useRef, useState } from 'react';
import { stateOf } from '../shared/itemStates';
import { useThemeInForce } from '../shared/useThemeInForce';
import { type Geometry, cellAfterKey, cellAt, geometryOf, scrollTo } from './geometry';
import { colourOf, tileOf } from './tiles';

interface Props {
  codes: Uint8Array;
  /** Changes with the codes, which are changed in place. */
  position: number;
  /** The items that are shown, by index; null for all of them. */
  shown: Uint32Array | null;
  selected: number | null;
  /** The item the keyboard is at. */
  focused: number;
  size: number | null;
  /** What an item is, in words. */
  describe: (index: number) => string;
  onFocus: (index: number) => void;
  onHover: (index: number | null) => void;
  onSelect: (index: number) => void;
}

export function ItemCanvas(props: Props): ReactElement {
  const { codes, position, shown, selected, focused, size, describe, onFocus, onHover, onSelect } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [{ width, height }, setRoom] = useState({ width: 0, height: 0 });
  const theme = useThemeInForce();
  const count = shown?.length ?? codes.length;
  const geometry = geometryOf(count, width, height, size);
  const focusedCell = cellOf(shown, focused);

  useEffect(() => measure(scroller.current, setRoom), []);

  const draw = useCallback(() => {
    const top = scroller.current?.scrollTop ?? 0;
    const marks = { selected: selected === null ? null : cellOf(shown, selected), focused: focusedCell };
    if (canvas.current) paintCells(canvas.current, { codes, shown, count, geometry, width, height, top, marks });
    // `position` and `theme` are not read, but what is drawn depends on them.
  }, [codes, position, shown, count, geometry.size, geometry.columns, width, height, selected, focusedCell, theme]); // eslint-disable-line react-hooks/exhaustive-deps

  useEffect(draw, [draw]);

  useEffect(() => {
    const element = scroller.current;
    if (element) element.scrollTop = scrollTo(focusedCell, geometry, element.scrollTop, height);
    // A cell comes into sight when it is moved to, not when the panel is scrolled or resized.
  }, [focusedCell]); // eslint-disable-line react-hooks/exhaustive-deps

  const indexAt = (event: Pointing): number | null => {
    const cell = scroller.current && cellUnder(scroller.current, event, geometry, count);
    return cell === null ? null : (shown?.[cell] ?? cell);
  };

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      onSelect(focused);
      return;
    }
    const next = cellAfterKey(event.key, focusedCell, count, geometry, height);
    if (next === null || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    onFocus(shown?.[next] ?? next);
  };

  return (
    <div ref={scroller} className="items-scroller" onScroll={draw}>
      <div style={{ height: geometry.rows * geometry.size }}>
        <canvas
          ref={canvas}
          className="items-canvas"
          style={{ width, height }}
          tabIndex={0}
          role="slider"
          aria-label="Items"
          aria-valuemin={0}
          aria-valuemax={Math.max(codes.length - 1, 0)}
          aria-valuenow={focused}
          aria-valuetext={describe(focused)}
          data-testid="items-canvas"
          onKeyDown={onKeyDown}
          onPointerMove={(event) => onHover(indexAt(event))}
          onPointerLeave={() => onHover(null)}
          onClick={(event) => {
            const index = indexAt(event);
            if (index !== null) onSelect(index);
          }}
        />
      </div>
    </div>
  );
}

type Pointing = Pick<PointerEvent, 'clientX' | 'clientY'>;

function cellUnder(scroller: HTMLElement, { clientX, clientY }: Pointing, geometry: Geometry, count: number): number | null {
  const box = scroller.getBoundingClientRect();
  return cellAt(geometry, count, clientX - box.left, clientY - box.top + scroller.scrollTop);
}

/** The place of an item among those shown; the nearest where it is not shown itself. */
function cellOf(shown: Uint32Array | null, index: number): number {
  if (!shown) return index;
  let low = 0;
  let high = shown.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((shown[middle] ?? 0) < index) low = middle + 1;
    else high = middle;
  }
  return Math.min(low, Math.max(shown.length - 1, 0));
}

function measure(element: HTMLElement | null, room: (size: { width: number; height: number }) => void): () => void {
  if (!element) return () => undefined;
  const look = (): void => room({ width: element.clientWidth, height: element.clientHeight });
  const observer = new ResizeObserver(look);
  observer.observe(element);
  look();
  return () => observer.disconnect();
}

interface Picture {
  codes: Uint8Array;
  shown: Uint32Array | null;
  count: number;
  geometry: Geometry;
  width: number;
  height: number;
  top: number;
  marks: { selected: number | null; focused: number };
}

function paintCells(canvas: HTMLCanvasElement, picture: Picture): void {
  const { width, height, geometry, top, marks } = picture;
  const pen = canvas.getContext('2d');
  if (!pen || width === 0 || height === 0) return;
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const image = pen.createImageData(canvas.width, canvas.height);
  fillCells(new Uint32Array(image.data.buffer), canvas.width, canvas.height, scale, picture);
  pen.putImageData(image, 0, 0);
  const box = (cell: number, colour: string, line: number): void => {
    const x = (cell % geometry.columns) * geometry.size;
    const y = Math.floor(cell / geometry.columns) * geometry.size - top;
    pen.strokeStyle = colourOf(colour);
    pen.lineWidth = line * scale;
    pen.strokeRect((x - 1) * scale, (y - 1) * scale, (geometry.size + 1) * scale, (geometry.size + 1) * scale);
  };
  if (document.activeElement === canvas) box(marks.focused, '--text', 1.5);
  if (marks.selected !== null) box(marks.selected, '--accent', 2.5);
}

function fillCells(pixels: Uint32Array, width: number, height: number, scale: number, picture: Picture): void {
  const { codes, shown, count, geometry, top } = picture;
  const side = Math.round(geometry.size * scale);
  const first = Math.floor(top / geometry.size);
  const last = Math.min(geometry.rows, Math.ceil((top + picture.height) / geometry.size) + 1);
  for (let row = first; row < last; row += 1) {
    const y = Math.round((row * geometry.size - top) * scale);
    for (let column = 0; column < geometry.columns; column += 1) {
      const cell = row * geometry.columns + column;
      if (cell >= count) return;
      const tile = tileOf(stateOf(codes[shown?.[cell] ?? cell] ?? 0), side);
      const x = Math.round(column * geometry.size * scale);
      if (x + side > width) continue;
      for (let line = Math.max(0, -y); line < side && y + line < height; line += 1) {
        pixels.set(tile.pixels.subarray(line * side, (line + 1) * side), (y + line) * width + x);
      }
    }
  }
}
