/** What is different, one line per firing, and the two sides of the one that is looked at. */
import { type ReactElement, useEffect, useRef, useState } from 'react';
import type { ComparisonView, DifferenceView, SlowerView } from '../generated/protocol';
import { EmptyState } from '../shared/EmptyState';
import { formatCount, formatDuration } from '../shared/format';
import { moveFocus } from '../shared/roving';
import { Segments } from '../shared/Segments';
import { titleOf } from '../shared/title';
import { Side, VerdictLabel } from '../shared/verdicts';
import { chooseDifference } from '../state/compare';
import { nodeById, shownDefinition } from '../state/selectors';
import { selectNode, useStore } from '../state/store';
import { Pair } from './Pair';
import { shortPair } from './values';
import './compare.css';

type List = 'differences' | 'slower';

export function ComparePanel(): ReactElement | null {
  const compared = useStore((state) => state.compared);
  const [list, setList] = useState<List>('differences');
  if (!compared) return null;
  const { answer, chosen } = compared;
  if (!answer) return <p className="compare-note compare-loading">Comparing…</p>;
  const { differences, slower, more } = answer;
  const difference = chosen === null ? undefined : differences[chosen];
  return (
    <section className="compare" aria-label="Differences" data-testid="compare">
      <div className="compare-lists">
        <Segments
          label="What is listed"
          active={list}
          options={[
            { id: 'differences', label: `Differences (${formatCount(differences.length + more)})` },
            { id: 'slower', label: `Slower in B (${formatCount(answer.total.slower)})` },
          ]}
          onSelect={setList}
        />
        {list === 'differences' ? <Differences answer={answer} chosen={chosen} /> : <Durations slower={slower} total={answer.total.slower} />}
      </div>
      {list === 'differences' && differences.length > 0 && (difference ? <Pair key={`${difference.node_id} ${difference.key}`} a={compared.a} b={compared.b} difference={difference} /> : <Choose />)}
    </section>
  );
}

function Choose(): ReactElement {
  return (
    <div className="compare-pair">
      <EmptyState icon="compare" title="Both sides of a difference">
        Choose a line to see what it was in A and what it is in B, or begin with the first divergence: whatever comes after may follow from it.
      </EmptyState>
    </div>
  );
}

function Differences({ answer: { differences, more }, chosen }: { answer: ComparisonView; chosen: number | null }): ReactElement {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    if (chosen !== null) list.current?.children[chosen]?.scrollIntoView?.({ block: 'nearest' });
  }, [chosen]);
  if (differences.length === 0) {
    return (
      <EmptyState icon="check" title="Both did the same">
        Every firing of one has its equal in the other: the same parameters, the same outcome, the same way.
      </EmptyState>
    );
  }
  return (
    <ul ref={list} className="compare-list" aria-label="Differences, in the order in which they came up" onKeyDown={moveFocus}>
      {differences.map((difference, index) => (
        <li key={index}>
          <DifferenceRow difference={difference} first={index === 0} chosen={index === chosen} tabStop={index === (chosen ?? 0)} onChoose={() => chooseDifference(index)} />
        </li>
      ))}
      {more > 0 && <li className="compare-note compare-more">{formatCount(more)} more are not listed.</li>}
    </ul>
  );
}

interface RowProps {
  difference: DifferenceView;
  first: boolean;
  chosen: boolean;
  tabStop: boolean;
  onChoose: () => void;
}

function DifferenceRow({ difference, first, chosen, tabStop, onChoose }: RowProps): ReactElement {
  const { node_id, key, verdict, changes } = difference;
  const node = useStore((state) => nodeById(shownDefinition(state), node_id));
  const hidden = useStore((state) => state.preferences.presenter);
  const [change] = changes;
  const [before, after] = change ? shortPair(change.a, change.b) : ['', ''];
  return (
    <button type="button" data-roving tabIndex={tabStop ? 0 : -1} className="row compare-row" aria-pressed={chosen} data-testid={first ? 'first-difference' : undefined} onClick={onChoose}>
      <VerdictLabel verdict={shownVerdict(verdict)} />
      <span className="compare-where">
        <span className="compare-node">{node ? titleOf(node) : node_id}</span>
        {key !== '' && <code className="compare-key">{key}</code>}
        {first && <span className="badge">first</span>}
      </span>
      {change && !hidden && (
        <span className="compare-change">
          <code className="compare-path" title={change.path}>
            {change.path}
          </code>
          {changes.length > 1 && <span className="compare-rest" title={`and ${formatCount(changes.length - 1)} more`}>+{formatCount(changes.length - 1)}</span>}
          <span className="compare-values">
            <Side side="a" /> <code>{before}</code> <Side side="b" /> <code>{after}</code>
          </span>
        </span>
      )}
    </button>
  );
}

function shownVerdict(verdict: string): 'changed' | 'only_a' | 'only_b' {
  return verdict === 'only_a' || verdict === 'only_b' ? verdict : 'changed';
}

/** The most first. */
function Durations({ slower, total }: { slower: readonly SlowerView[]; total: number }): ReactElement {
  const definition = useStore(shownDefinition);
  if (slower.length === 0) {
    return (
      <EmptyState icon="wait" title="Nothing took noticeably longer in B">
        What takes less than 20 ms or a quarter longer is noise.
      </EmptyState>
    );
  }
  const longest = Math.max(...slower.map(({ duration_b }) => duration_b), 1);
  return (
    <ul className="compare-list" aria-label="What took longer in B, the most first" onKeyDown={moveFocus}>
      {slower.map(({ node_id, key, duration_a, duration_b }, index) => {
        const node = nodeById(definition, node_id);
        return (
          <li key={index}>
            <button type="button" data-roving tabIndex={index === 0 ? 0 : -1} className="row compare-row compare-slow" onClick={() => selectNode(node_id)}>
              <span className="compare-where">
                <span className="compare-node">{node ? titleOf(node) : node_id}</span>
                {key !== '' && <code className="compare-key">{key}</code>}
              </span>
              <span className="compare-bars" aria-hidden="true">
                <i className="compare-bar-a" style={{ width: `${(duration_a / longest) * 100}%` }} />
                <i className="compare-bar-b" style={{ width: `${(duration_b / longest) * 100}%` }} />
              </span>
              <span className="numbers compare-times">
                {formatDuration(duration_a)} → {formatDuration(duration_b)}
              </span>
              <strong className="numbers compare-delta">+{formatDuration(duration_b - duration_a)}</strong>
            </button>
          </li>
        );
      })}
      {total > slower.length && <li className="compare-note compare-more">{formatCount(total - slower.length)} more are not listed.</li>}
    </ul>
  );
}
