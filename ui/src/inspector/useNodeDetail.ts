import { useEffect, useState } from 'react';
import { problemOf } from '../bridge/bridge';
import type { NodeDetail, NodeView, Problem } from '../generated/protocol';
import { nodeDetail } from '../state/actions';
import { nodeViewOf, shownSummary } from '../state/selectors';
import { useStore } from '../state/store';

/** A busy node changes sixty times a second; nobody reads that fast. */
export const THROTTLE_MILLIS = 250;

export type Detail =
  | { type: 'loading' }
  | { type: 'loaded'; detail: NodeDetail }
  | { type: 'failed'; problem: Problem };

interface Answer {
  executionId: string;
  nodeId: string;
  detail: Detail;
}

/** The firings of a node, asked for again when the node's part of the view has changed. */
export function useNodeDetail(executionId: string, nodeId: string): Detail {
  const [answer, setAnswer] = useState<Answer | null>(null);

  useEffect(() => {
    const poll = new Poll(executionId, nodeId, (detail) => setAnswer({ executionId, nodeId, detail }));
    return poll.start();
  }, [executionId, nodeId]);

  const mine = answer?.executionId === executionId && answer.nodeId === nodeId;
  return mine && answer ? answer.detail : { type: 'loading' };
}

/** At most one question under way, and a pause after each; the last change is always asked about. */
class Poll {
  private asked: NodeView | undefined;
  private busy = false;
  private stopped = false;
  private timer: ReturnType<typeof setTimeout> | null = null;

  private readonly executionId: string;
  private readonly nodeId: string;
  private readonly show: (detail: Detail) => void;

  constructor(executionId: string, nodeId: string, show: (detail: Detail) => void) {
    this.executionId = executionId;
    this.nodeId = nodeId;
    this.show = show;
  }

  start(): () => void {
    void this.ask();
    const unsubscribe = useStore.subscribe(() => {
      if (!this.busy) this.askAgain();
    });
    return () => {
      this.stopped = true;
      unsubscribe();
      if (this.timer !== null) clearTimeout(this.timer);
    };
  }

  private latest(): NodeView | undefined {
    return nodeViewOf(useStore.getState(), this.nodeId);
  }

  private async ask(): Promise<void> {
    this.busy = true;
    this.asked = this.latest();
    try {
      const detail = await nodeDetail(this.executionId, this.nodeId);
      if (!this.stopped) this.show({ type: 'loaded', detail });
    } catch (thrown) {
      if (!this.stopped) this.show({ type: 'failed', problem: problemOf(thrown) });
    }
    if (!this.stopped) this.timer = setTimeout(() => this.rest(), THROTTLE_MILLIS);
  }

  private rest(): void {
    this.busy = false;
    this.askAgain();
  }

  /** The store changes before the inspector is taken down, and the next host does not know this execution. */
  private askAgain(): void {
    const shown = shownSummary(useStore.getState())?.execution_id === this.executionId;
    if (shown && this.latest() !== this.asked) void this.ask();
  }
}
