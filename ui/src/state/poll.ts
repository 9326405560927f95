/** Asks a host again and again, as long as what it is asked about changes. */
import { problemOf } from '../bridge/bridge';
import type { Problem } from '../generated/protocol';
import { useStore } from './store';

interface Question<T> {
  ask: () => Promise<T>;
  /** A different mark means that there is something new to ask about; null that there is nothing to ask any more. Of a list one
   * that differs is enough. */
  mark: () => unknown;
  show: (answer: T) => void;
  fail: (problem: Problem) => void;
  /** Between an answer and the next question. */
  pauseMillis: number;
  /** A different one is asked about without a pause. */
  turn?: () => unknown;
}

/** At most one question under way, and a pause after each; the last change is always asked about. */
export class Poll<T> {
  private asked: unknown;
  private turn: unknown;
  private busy = false;
  private stopped = false;
  private timer: ReturnType<typeof setTimeout> | null = null;

  private readonly question: Question<T>;

  constructor(question: Question<T>) {
    this.question = question;
  }

  /** The answer ends it. */
  start(): () => void {
    void this.ask();
    const unsubscribe = useStore.subscribe(() => {
      if (!this.busy || this.isAtATurn()) this.rest();
    });
    return () => {
      this.stopped = true;
      unsubscribe();
      if (this.timer !== null) clearTimeout(this.timer);
    };
  }

  private async ask(): Promise<void> {
    const { ask, mark, show, fail, pauseMillis, turn } = this.question;
    this.busy = true;
    this.asked = mark();
    this.turn = turn?.();
    try {
      const answer = await ask();
      if (!this.stopped) show(answer);
    } catch (thrown) {
      if (!this.stopped) fail(problemOf(thrown));
    }
    if (!this.stopped) this.timer = setTimeout(() => this.rest(), pauseMillis);
  }

  /** True in the pause after an answer, when the next one is wanted now. */
  private isAtATurn(): boolean {
    return this.timer !== null && this.question.turn?.() !== this.turn;
  }

  private rest(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.busy = false;
    this.askAgain();
  }

  private askAgain(): void {
    const mark = this.question.mark();
    if (mark !== null && !isSame(mark, this.asked)) void this.ask();
  }
}

function isSame(left: unknown, right: unknown): boolean {
  if (!Array.isArray(left) || !Array.isArray(right)) return left === right;
  return left === right || (left.length === right.length && left.every((each, at) => each === right[at]));
}
