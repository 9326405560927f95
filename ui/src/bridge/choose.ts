import type { Bridge } from './bridge';
import { httpBridge } from './http';
import { tauriBridge } from './tauri';

/** The window has Tauri's door in it; everything else is a page of the web host. */
export function chooseBridge(): Bridge {
  return '__TAURI_INTERNALS__' in window ? tauriBridge() : httpBridge();
}
