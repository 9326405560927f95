/** Who works by keyboard is never left standing nowhere: when what has the focus goes away, it moves to what is nearest. */
import { useEffect } from 'react';

const STOPS = 'button, [tabindex], summary, select, a[href]';
/** Where one begins when nothing near is left: at the graph, at the line of what is open, or anywhere in the middle. */
const HOMES = ['.canvas-flow .card[tabindex="0"]', '.library [data-shown="true"]', 'main', '.shell'];

export function useFocusKept(): void {
  useEffect(() => {
    // From what has the focus up to the page. Only these are watched: a busy graph changes elsewhere.
    let chain: Element[] = [];
    const observer = new MutationObserver(() => {
      const lost = document.activeElement === document.body && chain[0]?.isConnected === false;
      if (lost) nearest(chain)?.focus({ preventScroll: true });
    });
    const follow = (event: FocusEvent): void => {
      observer.disconnect();
      chain = chainOf(event.target);
      for (const each of chain) observer.observe(each, { childList: true });
    };
    document.addEventListener('focusin', follow);
    return () => {
      document.removeEventListener('focusin', follow);
      observer.disconnect();
    };
  }, []);
}

function chainOf(target: EventTarget | null): Element[] {
  const chain: Element[] = [];
  for (let at = target instanceof Element ? target : null; at !== null; at = at.parentElement) chain.push(at);
  return chain;
}

/** Within the smallest part of the page that is still there; what belongs to the whole page has no neighbours. */
function nearest(chain: readonly Element[]): HTMLElement | null {
  const parts = chain.filter((each) => each.isConnected && each.closest('.panels, header') !== null && !each.matches('.panels'));
  const places = [...parts, ...HOMES.map((home) => document.querySelector(home))];
  for (const place of places) {
    const stop = place && stopIn(place);
    if (stop) return stop;
  }
  return null;
}

function stopIn(place: Element): HTMLElement | null {
  const stops = [place, ...place.querySelectorAll(STOPS)].filter((each): each is HTMLElement => each instanceof HTMLElement && each.matches(STOPS));
  return stops.find((each) => each.tabIndex >= 0 && !each.matches(':disabled') && each.getClientRects().length > 0) ?? null;
}
