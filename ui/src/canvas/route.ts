import type { Point } from './layout/layout';

const RADIUS = 9;

/** A way of right angles with its corners rounded. */
export function routePath(points: readonly Point[]): string {
  const [start, ...rest] = points;
  if (!start) return '';
  const parts = [`M${start.x} ${start.y}`];
  rest.forEach((point, index) => {
    const before = points[index];
    const after = rest[index + 1];
    if (!before || !after) {
      parts.push(`L${point.x} ${point.y}`);
      return;
    }
    const into = towards(point, before, RADIUS);
    const out = towards(point, after, RADIUS);
    parts.push(`L${into.x} ${into.y}Q${point.x} ${point.y} ${out.x} ${out.y}`);
  });
  return parts.join('');
}

/** A head that points the way the last piece goes: to the right. */
export function arrowPath(points: readonly Point[]): string {
  const end = points.at(-1);
  return end ? `M${end.x - 7} ${end.y - 4.5}L${end.x - 0.5} ${end.y}L${end.x - 7} ${end.y + 4.5}` : '';
}

function towards(from: Point, to: Point, distance: number): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  if (length === 0) return from;
  const share = Math.min(distance, length / 2) / length;
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}
