/** Breakpoints, pins and mocks as lists. Pure: what is set is sent as a whole, and kept by the host. */
import type { BreakPlace, Breakpoint, Controls, LineageKey, Mock, MockAnswer } from '../generated/protocol';

/** Where a breakpoint stands on the graph: at the side of a node where work comes in, where it goes out, or on an edge. */
export type Port = { type: 'before' | 'after'; nodeId: string } | { type: 'edge'; edgeId: string };

export function portOf(place: BreakPlace): Port | null {
  switch (place.type) {
    case 'before':
    case 'after':
      return { type: place.type, nodeId: place.node_id };
    case 'edge':
      return { type: 'edge', edgeId: place.edge_id };
    // A join opens before it works, and a node fails after it.
    case 'barrier':
      return place.node_id ? { type: 'before', nodeId: place.node_id } : null;
    case 'error':
      return place.node_id ? { type: 'after', nodeId: place.node_id } : null;
  }
}

export function placeAt(port: Port): BreakPlace {
  return port.type === 'edge' ? { type: 'edge', edge_id: port.edgeId } : { type: port.type, node_id: port.nodeId };
}

export function isAt(breakpoint: Breakpoint, port: Port): boolean {
  const here = portOf(breakpoint.place);
  if (here === null || here.type !== port.type) return false;
  return here.type === 'edge' ? port.type === 'edge' && here.edgeId === port.edgeId : port.type !== 'edge' && here.nodeId === port.nodeId;
}

/** Set, then disabled, then gone. */
export function cycled(controls: Controls, port: Port): Controls {
  const here = controls.breakpoints.filter((each) => isAt(each, port));
  if (here.length === 0) return { ...controls, breakpoints: [...controls.breakpoints, { place: placeAt(port) }] };
  if (here.every((each) => each.disabled)) {
    return { ...controls, breakpoints: controls.breakpoints.filter((each) => !isAt(each, port)) };
  }
  const breakpoints = controls.breakpoints.map((each) => (isAt(each, port) ? { ...each, disabled: true } : each));
  return { ...controls, breakpoints };
}

export function withBreakpoint(controls: Controls, index: number, breakpoint: Breakpoint): Controls {
  return { ...controls, breakpoints: controls.breakpoints.map((each, at) => (at === index ? breakpoint : each)) };
}

export function withoutBreakpoint(controls: Controls, index: number): Controls {
  return { ...controls, breakpoints: controls.breakpoints.filter((_, at) => at !== index) };
}

/** One answer per node and key: a new one takes the place of the old. */
export function withMock(controls: Controls, mock: Mock): Controls {
  return { ...controls, mocks: [...controls.mocks.filter((each) => !isSameMock(each, mock)), mock] };
}

export function withoutMock(controls: Controls, mock: Pick<Mock, 'node_id' | 'key'>): Controls {
  return { ...controls, mocks: controls.mocks.filter((each) => !isSameMock(each, mock)) };
}

/** What is said for one key counts before what is said for all. */
export function mockAt(controls: Controls, nodeId: string, key: LineageKey): Mock | null {
  const ofNode = controls.mocks.filter((each) => each.node_id === nodeId);
  return ofNode.find((each) => each.key === key) ?? ofNode.find((each) => (each.key ?? null) === null) ?? null;
}

export function mockOf(nodeId: string, key: LineageKey | null, answer: MockAnswer): Mock {
  return key === null ? { node_id: nodeId, answer } : { node_id: nodeId, key, answer };
}

function isSameMock(one: Pick<Mock, 'node_id' | 'key'>, other: Pick<Mock, 'node_id' | 'key'>): boolean {
  return one.node_id === other.node_id && (one.key ?? null) === (other.key ?? null);
}

const ITEM = /^\s*item(?:_index)?\s*={2,3}\s*(\d{1,9})\s*(?:&&\s*(.*))?$/s;

/** `item == 7 && $item.total > 100` names an item and a condition; the host keeps them apart. */
export function conditionFrom(text: string): Pick<Breakpoint, 'condition' | 'item'> {
  const found = ITEM.exec(text);
  if (!found) return text.trim() === '' ? {} : { condition: text.trim() };
  const rest = (found[2] ?? '').trim();
  return { item: Number(found[1]), ...(rest === '' ? {} : { condition: rest }) };
}
