/** Line icons on a 16 px grid, drawn for this tool. */
import type { ReactElement } from 'react';

const PATHS = {
  play: 'M5 3.2v9.6l7.6-4.8z',
  pause: 'M5.2 3.5v9M10.8 3.5v9',
  previous: 'M10.5 3.5L5.5 8l5 4.5M4 3.5v9',
  next: 'M5.5 3.5l5 4.5-5 4.5M12 3.5v9',
  stop: 'M4.2 4.2h7.6v7.6H4.2z',
  braces: 'M6 2.5c-1.6 0-2 .7-2 2v1.8c0 1-.5 1.7-1.5 1.7 1 0 1.5.7 1.5 1.7v1.8c0 1.3.4 2 2 2M10 2.5c1.6 0 2 .7 2 2v1.8c0 1 .5 1.7 1.5 1.7-1 0-1.5.7-1.5 1.7v1.8c0 1.3-.4 2-2 2',
  sun: 'M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9',
  moon: 'M13.2 9.7A5.7 5.7 0 0 1 6.3 2.8a5.7 5.7 0 1 0 6.9 6.9z',
  system: 'M2 3h12v8H2zM6 13.5h4M8 11v2.5',
  help: 'M5.8 6a2.2 2.2 0 1 1 3.2 2c-.7.4-1 .8-1 1.5M8 12.2v.1',
  copy: 'M5.5 5.5h7v8h-7zM3.5 10.5v-8h7',
  path: 'M2.5 4.5h4M4.5 4.5v7h4M10 9.5l2 2-2 2M10 11.5h-1.5',
  check: 'M3.25 8.5l3.25 3.25 6.25-7',
  close: 'M4 4l8 8M12 4l-8 8',
  search: 'M7 2.8a4.2 4.2 0 1 0 0 8.4 4.2 4.2 0 0 0 0-8.4zM10.2 10.2l3.3 3.3',
  up: 'M4 10l4-4 4 4',
  down: 'M4 6l4 4 4-4',
  right: 'M6 4l4 4-4 4',
  plus: 'M8 3.5v9M3.5 8h9',
  minus: 'M3.5 8h9',
  fit: 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10',
  area: 'M2.5 2.5h11v11h-11zM5.5 5.5h5v5h-5z',
  left: 'M2.5 3h11v10h-11zM6.2 3v10',
  inspector: 'M2.5 3h11v10h-11zM9.8 3v10',
  bottom: 'M2.5 3h11v10h-11zM2.5 9.5h11',
  folder: 'M2 4.2h4l1.3 1.5H14v7H2z',
  save: 'M8 2.5v7M5 7l3 3 3-3M3 12.8h10',
  replay: 'M3.2 8a4.8 4.8 0 1 0 1.5-3.5M3.2 2.8v2.4h2.4',
  warning: 'M8 2.6l6 10.6H2zM8 6.6v3M8 11.3v.1',
  error: 'M5.5 2.2h5l3.3 3.3v5l-3.3 3.3h-5L2.2 10.5v-5zM8 5v3.6M8 10.9v.1',
  key: 'M5.4 7.2a3.1 3.1 0 1 0 0 6.2 3.1 3.1 0 0 0 0-6.2zM7.7 8.2l5.6-5.7M10.6 5.2l2.1 2.1',
  table: 'M2.2 3h11.6v10H2.2zM2.2 6.4h11.6M2.2 9.7h11.6M6.4 3v10',
  tree: 'M3 2.5v9h4M3 6h4M9 4.5h4.5v3H9zM9 10h4.5v3H9z',
  compare: 'M3 3h4v10H3zM9 3h4v10H9zM4.3 8h1.4M10.3 8h1.4M11 7.3v1.4',
  bookmark: 'M4.5 2.5h7v11L8 10.6l-3.5 2.9z',
  present: 'M2 3h12v7.5H2zM8 10.5V13M5 13.5h6M6.8 5v3.4l3-1.7z',
  eye: 'M1.8 8S4 3.8 8 3.8 14.2 8 14.2 8 12 12.2 8 12.2 1.8 8 1.8 8zM8 6.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z',
  contrast: 'M8 2.4a5.6 5.6 0 1 0 0 11.2A5.6 5.6 0 0 0 8 2.4zM8 2.4v11.2M10 3.2v9.6M12 4.4v7.2',
  fork: 'M4.5 2.2a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2zM11.5 2.2a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2zM4.5 10.6a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2zM4.5 5.4v5.2M11.5 5.4c0 2.6-4 2-7 3.4',
  route: 'M3.6 10.2a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4zM12.4 2.4a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4zM5.3 11.9h4.9a2 2 0 0 0 0-4H5.8a2 2 0 0 1 0-3.8h4.9',
  pinned: 'M5.5 2.2h5l-.7 4 2.2 2.3v1H4v-1l2.2-2.3zM8 9.5v4.3',
  swap: 'M2.5 5.5h10M9.8 2.8l2.7 2.7-2.7 2.7M13.5 10.5h-10M6.2 7.8l-2.7 2.7 2.7 2.7',
  gallery: 'M2.5 2.5h4.7v4.7H2.5zM8.8 2.5h4.7v4.7H8.8zM2.5 8.8h4.7v4.7H2.5zM8.8 8.8h4.7v4.7H8.8z',
  nodeBack: 'M8 4L4 8l4 4M13 4L9 8l4 4',
  nodeOn: 'M3 4l4 4-4 4M8 4l4 4-4 4',
  file: 'M4 2.2h5l3 3v8.6H4zM9 2.2v3h3',
  // Control.
  breakpoint: 'M8 3.6a4.4 4.4 0 1 0 0 8.8 4.4 4.4 0 0 0 0-8.8z',
  resume: 'M3.4 3.2v9.6M6.6 3.2v9.6l6.8-4.8z',
  stepOver: 'M2.4 8.2a5.6 5.6 0 0 1 10.9-1.4M13.6 3.2v3.8H9.8M8 11.2a1.4 1.4 0 1 0 0 2.8 1.4 1.4 0 0 0 0-2.8z',
  stepInto: 'M8 1.8v6.6M5 5.6l3 3 3-3M8 11.2a1.4 1.4 0 1 0 0 2.8 1.4 1.4 0 0 0 0-2.8z',
  stepOut: 'M8 8.8V2.2M5 5l3-3 3 3M8 11.2a1.4 1.4 0 1 0 0 2.8 1.4 1.4 0 0 0 0-2.8z',
  stepBack: 'M13.6 8.2A5.6 5.6 0 0 0 2.7 6.8M2.4 3.2v3.8h3.8M8 11.2a1.4 1.4 0 1 0 0 2.8 1.4 1.4 0 0 0 0-2.8z',
  backBreak: 'M12.6 3.2v9.6M9.4 3.2v9.6L2.6 8z',
  stepStart: 'M2.6 3.2v9.6M5.4 8h7.2M9.6 5l3 3-3 3',
  runTo: 'M2 8h7.6M6.8 5.2L9.6 8l-2.8 2.8M13.2 3.2v9.6',
  runUntil: 'M3 3.6v8.8L9.4 8zM12.8 3.2v9.6',
  pin: 'M5.6 2.4h4.8M6.4 2.4l-.3 4.2-2.3 2.6h8.4L9.9 6.6l-.3-4.2M8 9.2v4.6',
  pinAll: 'M3.4 2.4h4M4 2.4l-.2 3.8-2 2.4h7.2L7 6.2l-.2-3.8M5.4 8.6v4.6M12 4v6M9.6 9.6h4.8',
  trash: 'M3 4.4h10M6.2 4.4V2.8h3.6v1.6M4.4 4.4l.6 8.8h6l.6-8.8M6.8 7v3.8M9.2 7v3.8',
  // Kinds of nodes.
  trigger: 'M9 1.8L3.5 9H8l-1 5.2L12.5 7H8z',
  log: 'M3 4h10M3 8h10M3 12h6',
  edit: 'M3 13l.6-2.7 7-7a1.1 1.1 0 0 1 1.6 0l.5.5a1.1 1.1 0 0 1 0 1.6l-7 7zM9.3 4.6l2.1 2.1',
  conditional: 'M8 1.8L14.2 8 8 14.2 1.8 8zM6.6 6.7a1.5 1.5 0 1 1 2.1 1.4c-.4.2-.7.5-.7 1M8 11v.1',
  switch: 'M2 8h3.5M5.5 3.5v9M5.5 3.5h6.2M5.5 8h6.2M5.5 12.5h6.2M11.7 2.3l1.8 1.2-1.8 1.2M11.7 6.8L13.5 8l-1.8 1.2M11.7 11.3l1.8 1.2-1.8 1.2',
  simulate: 'M6.2 2.5h3.6M7 2.5v3.7L3.3 12a1 1 0 0 0 .9 1.5h7.6a1 1 0 0 0 .9-1.5L9 6.2V2.5M5 9.8h6',
  http: 'M8 2.2a5.8 5.8 0 1 0 0 11.6A5.8 5.8 0 0 0 8 2.2zM2.2 8h11.6M8 2.2c2 1.7 2.8 3.6 2.8 5.8S10 12.1 8 13.8M8 2.2C6 3.9 5.2 5.8 5.2 8S6 12.1 8 13.8',
  mail: 'M2 4h12v8.5H2zM2.3 4.5L8 9l5.7-4.5',
  split: 'M2.5 8H6M6 8c2.5 0 2-4 5-4h2.5M6 8c2.5 0 2 4 5 4h2.5M6 8h7.5',
  aggregator: 'M2 3.8h2.5c2.5 0 2 4.2 4.5 4.2M2 12.2h2.5c2.5 0 2-4.2 4.5-4.2M2 8h7M9 4.8h5v6.4H9z',
  merge: 'M13.5 8H10M10 8c-2.5 0-2-4-5-4H2.5M10 8c-2.5 0-2 4-5 4H2.5',
  zip: 'M2 4.5h4.5L9 8l-2.5 3.5H2M9 8h5M11.5 5.8L14 8l-2.5 2.2',
  cross: 'M2 3.5l9 9M2 12.5l9-9M11 3.5h2.5M11 12.5h2.5M11 8h2.5',
  batch: 'M2 3h4v4H2zM2 9h4v4H2zM8 5h6v6H8z',
  funnel: 'M2 3h12l-4.6 5.4v4.4l-2.8 1V8.4z',
  lines: 'M2 3.5h8M2 8h12M2 12.5h6M12 2v3M10.5 3.5h3',
  wait: 'M8 2.2a5.8 5.8 0 1 0 0 11.6A5.8 5.8 0 0 0 8 2.2zM8 4.8V8l2.3 1.5',
  node: 'M3 3h10v10H3z',
} as const;

export type IconName = keyof typeof PATHS;

const SOLID: ReadonlySet<IconName> = new Set<IconName>(['play', 'stop', 'breakpoint', 'resume', 'backBreak', 'runUntil']);

export function Icon({ name, size = 16 }: { name: IconName; size?: number }): ReactElement {
  return (
    <svg
      className={SOLID.has(name) ? 'icon icon-solid' : 'icon'}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

const KINDS: { [kind: string]: IconName } = {
  trigger: 'trigger',
  log: 'log',
  edit: 'edit',
  filter: 'edit',
  sort: 'edit',
  limit: 'edit',
  conditional: 'conditional',
  if: 'conditional',
  switch: 'switch',
  simulate: 'simulate',
  http: 'http',
  smtp: 'mail',
  split: 'split',
  aggregator: 'aggregator',
  merge: 'merge',
  wait: 'wait',
  for_each: 'split',
  lines: 'lines',
  collect: 'aggregator',
  last: 'aggregator',
  count: 'aggregator',
  batch: 'batch',
  zip: 'zip',
  cross: 'cross',
  if_value: 'conditional',
  switch_value: 'switch',
  filter_items: 'funnel',
  take: 'funnel',
  drop: 'funnel',
  take_while: 'funnel',
  drop_while: 'funnel',
  distinct: 'funnel',
  reroute: 'right',
  fallback: 'conditional',
};

/** Kinds are an open set: a new one gets a plain box until it has an icon of its own. */
export function kindIcon(kind: string): IconName {
  return Object.hasOwn(KINDS, kind) ? (KINDS[kind] ?? 'node') : 'node';
}
