/** The two sides of one firing: what each of them was asked, saw and put out. */
import { type ReactElement, useEffect, useState } from 'react';
import { problemOf } from '../bridge/bridge';
import type { DifferenceView, FiringView, PayloadView } from '../generated/protocol';
import { EmptyState } from '../shared/EmptyState';
import { JsonDiff } from '../shared/json/JsonDiff';
import { JsonView } from '../shared/json/JsonView';
import { Segments } from '../shared/Segments';
import { Side } from '../shared/verdicts';
import { latestDetail } from '../state/actions';
import { useStore } from '../state/store';

type Part = 'output' | 'parameters' | 'input' | 'error';
const PARTS: readonly { id: Part; label: string }[] = [
  { id: 'output', label: 'Output' },
  { id: 'error', label: 'Error' },
  { id: 'parameters', label: 'Parameters' },
  { id: 'input', label: 'Input' },
];

interface Props {
  a: string;
  b: string;
  difference: DifferenceView;
}

type Sides = { a: FiringView | null; b: FiringView | null };

export function Pair({ a, b, difference }: Props): ReactElement {
  const sides = useSides(a, b, difference.node_id, difference.key);
  const hidden = useStore((state) => state.preferences.presenter);
  const [picked, setPicked] = useState<Part | null>(null);
  if (hidden) return <Note title="Values are hidden">Leave presenter mode to see them.</Note>;
  if (sides === 'loading') return <Note title="Loading…">Both sides are read.</Note>;
  if (typeof sides === 'string') return <Note title="It could not be read">{sides}</Note>;
  const there = PARTS.filter(({ id }) => valueOf(sides.a, id) !== undefined || valueOf(sides.b, id) !== undefined);
  const active = picked ?? usual(difference, there.map(({ id }) => id));
  return (
    <div className="compare-pair" data-testid="compare-pair">
      <Segments label="Part" active={active} options={[...there]} onSelect={setPicked} />
      <Values key={active} before={valueOf(sides.a, active)} after={valueOf(sides.b, active)} part={active} />
    </div>
  );
}

/** The part that the first change is about, which is the first one of its path. */
function usual({ changes }: DifferenceView, there: readonly Part[]): Part {
  const about = changes[0]?.path.split(/[.[]/)[0] ?? '';
  const part = about === 'items' ? 'output' : about;
  return there.find((each) => each === part) ?? there[0] ?? 'output';
}

function Values({ before, after, part }: { before: unknown; after: unknown; part: Part }): ReactElement {
  if (before === TOO_LARGE || after === TOO_LARGE) return <Empty title="Too large to compare here">One of both is too large to be shown as a whole.</Empty>;
  if (before === undefined && after === undefined) return <Empty title="Nothing here">Neither side has one.</Empty>;
  if (before !== undefined && after !== undefined) return <JsonDiff before={before} after={after} label="What is different" sides={['A', 'B']} />;
  const side = before === undefined ? 'b' : 'a';
  return (
    <>
      <p className="compare-note compare-only">
        <Side side={side} /> Only {side.toUpperCase()} has this.
      </p>
      <JsonView value={before ?? after} base={null} label={part} aside={null} />
    </>
  );
}

const TOO_LARGE = Symbol('too large');

function valueOf(firing: FiringView | null, part: Part): unknown {
  if (!firing) return undefined;
  if (part === 'error') return firing.error ?? undefined;
  const payload: PayloadView | null = firing[part];
  if (!payload) return undefined;
  return payload.type === 'whole' ? payload.data.json : TOO_LARGE;
}

/** Words where they cannot be read. */
function useSides(a: string, b: string, nodeId: string, key: string): Sides | string {
  const [answer, setAnswer] = useState<Sides | string>('loading');
  useEffect(() => {
    let wanted = true;
    const show = (found: Sides | string): void => {
      if (wanted) setAnswer(found);
    };
    // A node that is not in one of the graphs has no firings there.
    const one = (executionId: string): Promise<FiringView | null> => latestDetail(executionId, nodeId, key).then(({ firings }) => firings[0] ?? null);
    Promise.all([one(a), one(b)]).then(
      ([left, right]) => show({ a: left, b: right }),
      (thrown: unknown) => show(problemOf(thrown).message),
    );
    return () => {
      wanted = false;
    };
  }, [a, b, nodeId, key]);
  return answer;
}

function Note({ title, children }: { title: string; children: string }): ReactElement {
  return (
    <div className="compare-pair">
      <Empty title={title}>{children}</Empty>
    </div>
  );
}

function Empty({ title, children }: { title: string; children: string }): ReactElement {
  return (
    <EmptyState icon="compare" title={title}>
      {children}
    </EmptyState>
  );
}
