import type { ReactElement } from 'react';
import { LABEL_HEIGHT, type Point, labelWidth } from './layout/layout';

interface Props {
  at: Point;
  text: string;
  /** Told on hover. */
  title: string;
  kind: 'label' | 'note';
}

/** A few words on an edge. */
export function EdgePlate({ at, text, title, kind }: Props): ReactElement {
  const width = labelWidth(text);
  return (
    <g className={`route-words route-words-${kind}`} transform={`translate(${at.x} ${at.y})`}>
      <rect className="route-plate" x={-width / 2} y={-LABEL_HEIGHT / 2} width={width} height={LABEL_HEIGHT} rx={LABEL_HEIGHT / 2} />
      <text className="route-label" textAnchor="middle" dominantBaseline="central">
        {text}
      </text>
      <title>{title}</title>
    </g>
  );
}
