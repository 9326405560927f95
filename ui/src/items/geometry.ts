/** Where the cells lie: rows from left to right, as many columns as fit. */

export const SIZES: readonly number[] = [5, 7, 9, 12, 16, 22];
/** Cells that do not all fit are this large: smaller ones cannot be told apart. */
const CROWDED = 9;

export interface Geometry {
  size: number;
  columns: number;
  rows: number;
}

/** The largest size at which everything is in sight, unless one is wished for. */
export function geometryOf(count: number, width: number, height: number, wish: number | null): Geometry {
  const fits = (size: number): boolean => Math.ceil(count / columnsOf(width, size)) * size <= height;
  const size = wish ?? SIZES.findLast((each) => each >= CROWDED && fits(each)) ?? CROWDED;
  const columns = columnsOf(width, size);
  return { size, columns, rows: Math.ceil(count / columns) };
}

function columnsOf(width: number, size: number): number {
  return Math.max(1, Math.floor(width / size));
}

/** The place of a cell among those shown; null beside them. */
export function cellAt({ size, columns }: Geometry, count: number, x: number, y: number): number | null {
  const column = Math.floor(x / size);
  const row = Math.floor(y / size);
  const cell = row * columns + column;
  return column >= 0 && row >= 0 && column < columns && cell < count ? cell : null;
}

/** Where a key leads from a cell; null where it means nothing here. */
export function cellAfterKey(key: string, cell: number, count: number, { size, columns }: Geometry, height: number): number | null {
  const page = columns * Math.max(1, Math.floor(height / size) - 1);
  const steps: { [key: string]: number } = {
    ArrowLeft: -1,
    ArrowRight: 1,
    ArrowUp: -columns,
    ArrowDown: columns,
    PageUp: -page,
    PageDown: page,
    Home: -count,
    End: count,
  };
  const step = steps[key];
  return step === undefined ? null : Math.min(Math.max(cell + step, 0), count - 1);
}

/** How far to scroll so that a cell is in sight. */
export function scrollTo(cell: number, { size, columns }: Geometry, top: number, height: number): number {
  const y = Math.floor(cell / columns) * size;
  if (y < top) return y;
  return y + size > top + height ? y + size - height : top;
}
