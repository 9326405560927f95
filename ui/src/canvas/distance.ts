/** How far away the eye is from the graph. */
import type { ReactFlowState } from '@xyflow/react';

/** Below this zoom the small print cannot be read and is left away. */
const FAR = 0.7;
/** Below this one nothing can be read at all: cards become fields with the sign of their state. */
const SPECK = 0.3;

export const isSpeck = ({ transform: [, , zoom] }: ReactFlowState): boolean => zoom < SPECK;

export const distanceOf = (state: ReactFlowState): string =>
  isSpeck(state) ? 'canvas-speck' : state.transform[2] < FAR ? 'canvas-far' : 'canvas-near';
