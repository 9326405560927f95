/** How large the panels are: as the user has made them, or as suits the window while nobody has. */
import { useSyncExternalStore } from 'react';
import { type Panel, type PanelPreference, clampPanel } from './preferences';

export interface Room {
  width: number;
  height: number;
}

/** A window of this size has panels of these sizes; what it is larger, they share with the graph. */
const MODEL: Room = { width: 1280, height: 800 };
const USUAL: { [K in Panel]: { size: number; of: keyof Room; share: number; least: number; most: number } } = {
  left: { size: 248, of: 'width', share: 0.1, least: 200, most: 304 },
  right: { size: 328, of: 'width', share: 0.15, least: 260, most: 416 },
  bottom: { size: 264, of: 'height', share: 0.4, least: 152, most: 400 },
};

export function panelSize(panel: Panel, { size }: PanelPreference, room: Room): number {
  return size ?? usualSize(panel, room);
}

export function usualSize(panel: Panel, room: Room): number {
  const { size, of, share, least, most } = USUAL[panel];
  const wanted = size + (room[of] - MODEL[of]) * share;
  return clampPanel(panel, Math.min(Math.max(wanted, least), most));
}

export function roomNow(): Room {
  return { width: window.innerWidth, height: window.innerHeight };
}

/** Drawn again when the panel gets another size, and not with every pixel of the window. */
export function usePanelSize(panel: Panel, preference: PanelPreference): number {
  return useSyncExternalStore(listen, () => panelSize(panel, preference, roomNow()));
}

function listen(changed: () => void): () => void {
  window.addEventListener('resize', changed);
  return () => window.removeEventListener('resize', changed);
}
