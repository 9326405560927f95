/** Looks through a join: what has arrived, what is missing, where each missing part is now, and one sentence about it. */
import { type ReactElement, type ReactNode, useEffect, useState } from 'react';
import type { BarrierPlace, BarrierView, MissingPart, Node, PartAt } from '../generated/protocol';
import { Countdown } from '../shared/Countdown';
import { formatClock, formatCount, formatProgress } from '../shared/format';
import { LOST_WORD, LostIcon } from '../shared/LostLabel';
import { NodeLink } from '../shared/NodeLink';
import { own } from '../shared/record';
import { moveFocus } from '../shared/roving';
import { scopesOf } from '../shared/scopes';
import type { ShownState } from '../shared/shownState';
import { STATE_WORDS, StateIcon } from '../shared/states';
import { titleOf } from '../shared/title';
import { verdictOf } from '../shared/verdict';
import { barrierView } from '../state/actions';
import { selectItem } from '../state/item';
import { isLostPart, lostAt } from '../state/lostWaits';
import { Poll } from '../state/poll';
import { followsTheClock, nodeById, shownDefinition, shownSummary, shownView } from '../state/selectors';
import { type State, selectNode, useStore } from '../state/store';

const PAUSE_MILLIS = 250;

interface Props {
  node: Node;
  executionId: string;
  /** Stands here where nothing is missing, or nobody tells what is. */
  otherwise?: ReactNode;
}

export function Barrier({ node, executionId, otherwise = null }: Props): ReactElement {
  const barrier = useBarrier(executionId, node.id);
  const [chosen, setChosen] = useState<string | null>(null);
  const mine = useStore((state) => firstOfItem(state, node.id));
  if (barrier === 'asked') return <></>;
  if (barrier === 'untold') return <>{otherwise}</>;
  const verdict = barrier.verdict ? <p className="barrier-verdict barrier-cluster" data-testid="barrier-cluster">On the cluster: {barrier.verdict}</p> : null;
  const first =
    barrier.winner || mine !== null ? (
      <>
        {barrier.winner && <First winner={barrier.winner} />}
        {mine !== null && <First winner={mine} ofItem />}
      </>
    ) : null;
  const place = barrier.places.find(({ key }) => key === chosen) ?? barrier.places[0];
  if (!place) {
    return (
      <>
        {otherwise}
        {(first || verdict) && (
          <div className="barrier-open">
            {first}
            {verdict}
          </div>
        )}
      </>
    );
  }
  return (
    <section className="barrier" aria-label="What it waits for" data-testid="barrier">
      {barrier.places.length > 1 && (
        <select className="barrier-choice" aria-label="At" value={place.key} onChange={(event) => setChosen(event.target.value)}>
          {barrier.places.map(({ key, arrived, expected }) => (
            <option key={key} value={key}>
              {key === '' ? 'root' : key} · {formatProgress({ arrived, expected })}
            </option>
          ))}
        </select>
      )}
      {first}
      <PlaceView place={place} node={node} told={verdict} />
      {barrier.total > barrier.places.length && (
        <p className="barrier-more">{formatCount(barrier.total - barrier.places.length)} more of its keys wait too.</p>
      )}
    </section>
  );
}

/**
 * Who came first where a race is won. Rune services keep that as a lock, one for all items, and whoever is named there has it
 * while they are looked into.
 */
function First({ winner, ofItem = false }: { winner: string; ofItem?: boolean }): ReactElement {
  const node = useStore((state) => nodeById(shownDefinition(state), winner));
  const locks = useStore(keepsLocks);
  const index = useStore((state) => state.item?.index ?? 0);
  const words = locks ? 'Lock held by' : 'First:';
  return (
    <p className="barrier-first" data-testid="barrier-first">
      <span>{ofItem ? `First for item ${formatCount(index)}:` : words} </span>
      <NodeLink node={node} nodeId={winner} onSelect={selectNode} />
    </p>
  );
}

/** Inside a fan-out every item has its own race. */
function firstOfItem({ item }: State, nodeId: string): string | null {
  return (item?.detail && own(item.detail.nodes, nodeId)?.first) ?? null;
}

function keepsLocks(state: State): boolean {
  const observed = shownSummary(state)?.observed;
  return state.past === null && observed?.dialect === 'rune' && observed.cluster === state.cluster?.connection.name;
}

/** `asked` until the first answer; `untold` where there is none. */
function useBarrier(executionId: string, nodeId: string): BarrierView | 'asked' | 'untold' {
  const [barrier, setBarrier] = useState<BarrierView | 'asked' | 'untold'>('asked');
  useEffect(() => {
    const poll = new Poll({
      ask: () => barrierView(executionId, nodeId),
      mark: () => {
        const state = useStore.getState();
        const view = shownView(state);
        // What Redis of a cluster has of a join changes without an event.
        return view?.summary.execution_id === executionId ? [view.position, state.cluster] : null;
      },
      show: setBarrier,
      // A recording that was opened from a file does not tell; the card's progress is all there is.
      fail: () => setBarrier('untold'),
      pauseMillis: PAUSE_MILLIS,
    });
    return poll.start();
  }, [executionId, nodeId]);
  return barrier;
}

/** `told` is what the cluster itself says, which goes before what was heard. */
function PlaceView({ place, node, told }: { place: BarrierPlace; node: Node; told: ReactNode }): ReactElement {
  const definition = useStore(shownDefinition);
  // Which waits are lost is part of the sentence.
  useStore((state) => state.cluster?.findings);
  const ended = useStore((state) => shownView(state)?.summary.phase !== 'running');
  const title = (id: string): string => {
    const found = nodeById(definition, id);
    return found ? titleOf(found) : id;
  };
  const missing = place.expected - place.arrived;
  return (
    <>
      <div className="barrier-head">
        <span className="barrier-numbers numbers">{formatProgress(place)}</span> arrived
        {place.due !== null && !ended && (
          <span className="barrier-due">
            gives up <Due due={place.due} />
          </span>
        )}
      </div>
      <div className="barrier-bar" aria-hidden="true">
        <span style={{ flexGrow: place.arrived }} />
        <span className="barrier-missing" style={{ flexGrow: missing }} />
      </div>
      {told}
      <p className="barrier-verdict" data-testid="barrier-verdict">
        {verdictOf(place, { titleOf: title, ended, lostAt: (id) => lostAt(useStore.getState(), id) })}
      </p>
      <ul className="barrier-list" aria-label="Missing" onKeyDown={moveFocus}>
        {place.missing.map((part, at) => (
          <li key={at}>
            <Part part={part} place={place} titleOf={title} tabStop={at === 0} onSelect={() => select(part, place, node)} />
          </li>
        ))}
      </ul>
      {missing > place.missing.length && <p className="barrier-more">{formatCount(missing - place.missing.length)} more are missing.</p>}
    </>
  );
}

interface PartProps {
  part: MissingPart;
  place: BarrierPlace;
  titleOf: (nodeId: string) => string;
  tabStop: boolean;
  onSelect: () => void;
}

function Part({ part, place, titleOf: title, tabStop, onSelect }: PartProps): ReactElement {
  const { at } = part.data;
  const state = stateOf(at);
  const lost = useStore((current) => isLostPart(current, part, place.key));
  const word = lost ? LOST_WORD : STATE_WORDS[state];
  const elsewhere = part.type === 'item' || at.node_id !== part.data.parent;
  const where = at.node_id === null ? (state === 'idle' ? 'nothing leads here any more' : 'has not begun') : title(at.node_id);
  return (
    <button type="button" data-roving tabIndex={tabStop ? 0 : -1} className="row barrier-part" onClick={onSelect}>
      <span className="barrier-what">{part.type === 'item' ? `Item ${formatCount(part.data.index)}` : title(part.data.parent)}</span>
      <span className={`barrier-where state-${lost ? 'lost' : state}`} title={elsewhere ? `${word}: ${where}` : word}>
        {lost ? <LostIcon /> : <StateIcon state={state} />}
        {elsewhere && <span className="visually-hidden">{word} at</span>}
        <span className="barrier-node">{elsewhere ? where : word}</span>
      </span>
      <span className="barrier-when">{lost ? 'lost' : <When at={at} />}</span>
    </button>
  );
}

function When({ at: { due, attempt } }: { at: PartAt }): ReactElement | null {
  if (due !== null) return <Due due={due} />;
  return attempt > 1 ? <>attempt {attempt}</> : null;
}

function Due({ due }: { due: number }): ReactElement {
  const live = useStore(followsTheClock);
  return live ? <Countdown due={due} /> : <span className="numbers">{formatClock(due)}</span>;
}

function stateOf({ state, retrying }: PartAt): ShownState {
  return retrying ? 'retrying' : state;
}

/** A missing item is followed through the graph; a missing branch leads to where it is. */
function select(part: MissingPart, place: BarrierPlace, node: Node): void {
  const definition = shownDefinition(useStore.getState());
  if (part.type === 'branch') {
    selectNode(part.data.at.node_id ?? part.data.parent);
    return;
  }
  const sources = (definition?.edges ?? []).filter((edge) => edge.dst === node.id).map((edge) => edge.src);
  const scopes = definition ? sources.map((source) => scopesOf(definition).get(source) ?? []) : [];
  const splits = new Set((definition?.nodes ?? []).filter((each) => each.type === 'split').map((each) => each.id));
  const split = scopes.map((scope) => scope.at(-1)).find((each) => each !== undefined) ?? sources.find((source) => splits.has(source));
  if (split === undefined) return;
  selectItem({ split, parent: indexesOf(place.key) }, part.data.index);
}

function indexesOf(key: string): number[] {
  return key === '' ? [] : key.split('/').map((level) => Number(level.slice(level.lastIndexOf('=') + 1)));
}
