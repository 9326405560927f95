/** The vocabulary of states: an icon, a word and a colour, so that no meaning hangs on colour alone. */
import type { ReactElement } from 'react';
import type { NodeState } from '../generated/protocol';
import { PHASE_WORDS, type ShownPhase } from './phase';
import type { ShownState } from './shownState';
import './states.css';

export const STATE_WORDS: { [K in ShownState]: string } = {
  idle: 'Idle',
  queued: 'Queued',
  running: 'Running',
  waiting_timer: 'Waiting',
  retrying: 'Tries again',
  waiting_barrier: 'Gathering',
  success: 'Success',
  failed: 'Failed',
  skipped: 'Skipped',
};

const PHASE_STATES: { [K in ShownPhase]: NodeState } = {
  runs: 'running',
  left: 'idle',
  completed: 'success',
  failed: 'failed',
  halted: 'failed',
};

function glyph(state: ShownState): ReactElement {
  switch (state) {
    case 'idle':
      return <circle cx="8" cy="8" r="5.25" />;
    case 'queued':
      return <circle cx="8" cy="8" r="5.25" strokeDasharray="0.5 2.8" strokeLinecap="round" strokeWidth="2" />;
    case 'running':
      return (
        <>
          <circle cx="8" cy="8" r="5.25" />
          <path d="M8 2.75a5.25 5.25 0 0 1 0 10.5z" fill="currentColor" stroke="none" />
        </>
      );
    case 'waiting_timer':
      return (
        <>
          <circle cx="8" cy="8" r="5.25" />
          <path d="M8 2.75V8h5.25" />
        </>
      );
    case 'retrying':
      return <path d="M13.25 8A5.25 5.25 0 1 1 11.3 3.9M11.6 1.4v2.9H8.7" />;
    case 'waiting_barrier':
      return <path d="M4 2.5h8l-8 11h8z" />;
    case 'success':
      return <path d="M3.25 8.5l3.25 3.25 6.25-7" strokeWidth="2" />;
    case 'failed':
      return <path d="M4 4l8 8M12 4l-8 8" strokeWidth="2" />;
    case 'skipped':
      return (
        <>
          <circle cx="8" cy="8" r="5.25" />
          <path d="M4.3 11.7l7.4-7.4" />
        </>
      );
  }
}

export function StateIcon({ state }: { state: ShownState }): ReactElement {
  return (
    <svg className={`state-icon state-${state}`} viewBox="0 0 16 16" aria-hidden="true">
      {glyph(state)}
    </svg>
  );
}

export function StateLabel({ state }: { state: ShownState }): ReactElement {
  return (
    <span className={`state-label state-${state}`}>
      <StateIcon state={state} />
      <span className="state-word">{STATE_WORDS[state]}</span>
    </span>
  );
}

/** `brief` where there is room for the icon alone: the word is told to who asks, and to who listens. */
export function PhaseLabel({ phase, brief = false }: { phase: ShownPhase; brief?: boolean }): ReactElement {
  const word = PHASE_WORDS[phase];
  return (
    <span className={`state-label state-${PHASE_STATES[phase]}`} title={brief ? word : undefined}>
      <StateIcon state={PHASE_STATES[phase]} />
      <span className={brief ? 'visually-hidden' : 'state-word'}>{word}</span>
    </span>
  );
}
