import { act, fireEvent, render, screen } from '@testing-library/react';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Bridge } from '../bridge/bridge';
import type { FiringView, Mock, Node, Response } from '../generated/protocol';
import { connect } from '../state/actions';
import { useStore } from '../state/store';
import { detail, entry, summary, view } from '../testing/fixtures';
import { PinButtons, canPin, usePinKey } from './PinButton';

const call = vi.fn<Bridge['call']>();
const NODE: Node = { id: 'greet', type: 'edit', parameters: {} };
const firing = (key: string): FiringView => {
  const [first] = detail('greet', { text: 'Hi' }).firings;
  if (!first) throw new Error('The fixture has no firing.');
  return { ...first, key };
};
const mocks = (): Mock[] => useStore.getState().control.controls.mocks;
const settled = (): Promise<void> => act(async () => void (await new Promise((resolve) => setTimeout(resolve, 0))));

function Pinned({ at }: { at: FiringView }) {
  usePinKey(NODE, at);
  return <PinButtons node={NODE} firing={at} />;
}

beforeEach(() => {
  call.mockReset();
  call.mockImplementation((request) => Promise.resolve((request.type === 'controls' ? { type: 'controls', data: { breakpoints: [], mocks: [] } } : { type: 'done' }) as Response));
  connect({ host: { mode: 'web', title: '', readOnly: false }, call, subscribe: () => () => undefined });
  useStore.setState({ workflows: [entry()], open: { type: 'execution', executionId: 'x1', view: view({ summary: summary() }) } });
});

describe('pins', () => {
  it('keep the output of one item with P, of every item with Shift+P, and let go of it again', async () => {
    render(<Pinned at={firing('each=3')} />);
    fireEvent.keyDown(document.body, { key: 'p' });
    await settled();
    expect(mocks()).toEqual([{ node_id: 'greet', key: 'each=3', answer: { type: 'output', value: { text: 'Hi' } } }]);
    expect(screen.queryByTestId('pin-all')).toBeNull();
    fireEvent.click(screen.getByTestId('pin'));
    await settled();
    expect(mocks()).toEqual([]);
    fireEvent.keyDown(document.body, { key: 'P', shiftKey: true });
    await settled();
    expect(mocks()).toEqual([{ node_id: 'greet', answer: { type: 'output', value: { text: 'Hi' } } }]);
  });

  it('are absent where there is nothing to keep', () => {
    expect(canPin(NODE, firing(''))).toBe(true);
    expect(canPin(NODE, null)).toBe(false);
    expect(canPin({ ...NODE, type: 'split' }, firing(''))).toBe(false);
    expect(canPin(NODE, { ...firing(''), output: { type: 'cut', data: { text: '{', bytes: 9_000_000 } } })).toBe(false);
    useStore.setState({ host: { mode: 'replay', title: '', readOnly: true } });
    expect(canPin(NODE, firing(''))).toBe(false);
  });
});
