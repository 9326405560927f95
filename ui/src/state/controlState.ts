/** What people have set for the shown file, and what is held of the shown execution. */
import type { Controls, ControlView } from '../generated/protocol';

export interface ControlState {
  /** The file the controls are of; null until the host has told them. */
  path: string | null;
  controls: Controls;
  /** Of the execution that is shown; null until the host has told. */
  view: ControlView | null;
  /** The held message somebody has chosen, by its id. */
  chosen: string | null;
  following: Following | null;
  /** The right side shows the message that is held at the selected node, or everything about the node. */
  aspect: Aspect;
}

export type Aspect = 'held' | 'node';

/** A message that was let go for a step: what follows from it is looked at next. */
export interface Following {
  key: string;
  /** Held before the step, so they do not follow from it. */
  known: readonly string[];
}

export const NO_CONTROLS: Controls = { breakpoints: [], mocks: [] };

export const NO_CONTROL: ControlState = {
  path: null,
  controls: NO_CONTROLS,
  view: null,
  chosen: null,
  following: null,
  aspect: 'held',
};
