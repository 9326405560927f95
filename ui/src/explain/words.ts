/** Reasons as sentences. Nodes in them are places that one can go to, so a sentence is a list of words and nodes. */
import type { Edge, ExecutionSummary, ExecutionView, ExplanationView, FiringStory, Leg, Missing, MissingAt, NodeStory, NotRun, Spent, Waiting, Workflow } from '../generated/protocol';
import { formatCount, formatDuration, formatMoment, formatSeconds, plural } from '../shared/format';
import { LOST_REASON } from '../shared/LostLabel';
import type { ShownPhase } from '../shared/phase';
import { waitingNow } from './waitingNow';

export type Word = string | { node: string } | { code: string };
export type Sentence = Word[];

export interface Punctuated {
  word: Word;
  /** What stands directly behind a node. */
  end: string;
}

/** Commas and full stops behind a node belong to it, so that none begins a line. */
export function punctuated(sentence: Sentence): Punctuated[] {
  return sentence.map((word, index) => {
    if (typeof word !== 'string') return { word, end: isNode(word) ? endIn(sentence[index + 1]) : '' };
    return { word: isNode(sentence[index - 1]) ? word.slice(endIn(word).length) : word, end: '' };
  });
}

function isNode(word: Word | undefined): boolean {
  return typeof word === 'object' && 'node' in word;
}

function endIn(word: Word | undefined): string {
  return typeof word === 'string' ? (/^[.,;:]+/.exec(word)?.[0] ?? '') : '';
}

/** More than this is told by a number. */
const MOST_MISSING = 5;

export function outcomeOf(summary: ExecutionSummary, phase: ShownPhase, firings: number, failed: number): Sentence {
  const counted = firings === 0 ? 'no firing' : `${plural(firings, 'firing')}, ${failed === 0 ? 'none' : formatCount(failed)} of them failed`;
  if (phase === 'left') return [`It had not ended when it was seen last: ${counted} until then.`];
  if (phase === 'runs' || summary.ended_at === null) return [`It has not ended: ${counted} so far.`];
  const words = { completed: 'completed', failed: 'failed', halted: 'was halted' };
  return [`It ${words[phase]} after ${formatDuration(summary.ended_at - summary.started_at)} with ${counted}.`];
}

export function waitingSentence({ node_id, key, arrived, expected, missing, more }: Waiting): Sentence {
  const told = missing.slice(0, MOST_MISSING);
  const left = missing.length - told.length + more;
  const parts = togetherOf(told).flatMap((group, index) => [index === 0 ? '' : '; ', ...missingWords(group)]);
  const rest = left > 0 ? `; and ${formatCount(left)} more` : '';
  const has = `${at(key)} has ${formatCount(arrived)} of ${formatCount(expected)}`;
  // What it lacks is told a moment after how much.
  if (told.length === 0) return [{ node: node_id }, `${has}.`];
  return [{ node: node_id }, `${has}: `, ...parts, `${rest}.`];
}

/** What is missing and in the same place for the same reason: told once. */
function togetherOf(missing: readonly Missing[]): Missing[][] {
  const groups = new Map<string, Missing[]>();
  for (const part of missing) {
    const place = placeOf(part.whereabouts);
    groups.set(place, [...(groups.get(place) ?? []), part]);
  }
  return [...groups.values()];
}

/** Everything but the moment. */
function placeOf(whereabouts: MissingAt): string {
  return JSON.stringify({ ...whereabouts, since: null, until: null });
}

/** Of parts that are in the same place. */
function missingWords(parts: readonly Missing[]): Word[] {
  const [first] = parts;
  if (!first) return [];
  const many = parts.length > 1;
  const who = whoOf(parts.map(({ what }) => what));
  const be = many ? 'are' : 'is';
  const { whereabouts } = first;
  return [...who, ...placeWords(whereabouts, parts, be)];
}

/** What is said of them behind their names. */
function placeWords(whereabouts: MissingAt, parts: readonly Missing[], be: string): Word[] {
  const many = parts.length > 1;
  switch (whereabouts.state) {
    case 'queued':
      return whereabouts.behind === null ? [` ${many ? 'have' : 'has'} not begun`] : [` ${be} queued behind `, { node: whereabouts.behind }];
    case 'running':
      return [` ${be} at work in `, { node: whereabouts.node_id }, `${many ? ', the first' : ''} since ${formatSeconds(earliest(parts))}`];
    case 'waiting':
      return [` rest${many ? '' : 's'} in `, { node: whereabouts.node_id }, `${many ? ', the first' : ''} until ${formatSeconds(earliest(parts))}`];
    case 'retrying':
      return [` ${be} tried again in `, { node: whereabouts.node_id }, `${many ? ', the first' : ''} at ${formatSeconds(earliest(parts))}, after: ${whereabouts.error}`];
    case 'failed':
      return [' failed in ', { node: whereabouts.node_id }, `: ${whereabouts.error}`];
    case 'lost':
      return [` ${be} lost: nothing of ${many ? 'them' : 'it'} is under way any more`];
    case 'unseen':
      return [` ${many ? 'were' : 'was'} not seen, and not everything was heard`];
  }
}

/** A branch is told by the node it comes from, which is a place that one can go to. */
function whoOf(names: readonly string[]): Word[] {
  const nodes = names.flatMap((name) => /^edge .+ from (.+)$/.exec(name)?.[1] ?? []);
  if (nodes.length === 0 || nodes.length < names.length) return [namesOf(names)];
  const lead = (index: number): string => (index === 0 ? '' : index === nodes.length - 1 ? ' and ' : ', ');
  return [`the branch${nodes.length === 1 ? '' : 'es'} from `, ...nodes.flatMap((node, index): Word[] => [lead(index), { node }])];
}

/** `items 3, 8 and 12`; what is no item keeps its own name. */
function namesOf(names: readonly string[]): string {
  const numbers = names.flatMap((name) => /^item (\S+)$/.exec(name)?.[1] ?? []);
  return names.length > 1 && numbers.length === names.length ? `items ${listed(numbers)}` : listed(names);
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

function earliest(parts: readonly Missing[]): number {
  return Math.min(...parts.flatMap(({ whereabouts }) => ('since' in whereabouts ? whereabouts.since : 'until' in whereabouts ? whereabouts.until : [])));
}

export function legTime({ queue, run, timer }: Leg): number {
  return queue + run + timer;
}

export function spentTime({ queue, run, timer, barrier }: Spent): number {
  return queue + run + timer + barrier;
}

/** Nodes that rest, the first to go on first; `lost`: those that never will. */
export function restSentences(view: ExecutionView | null, lost: readonly string[] = []): Sentence[] {
  const resting = Object.entries(view?.nodes ?? {}).flatMap(([node, { state, counts, due }]) => (state === 'waiting_timer' && due !== null ? [{ node, due, keys: counts.waiting }] : []));
  const soonest = resting.toSorted((a, b) => a.due - b.due).slice(0, MOST_MISSING);
  return soonest.map(({ node, due, keys }) => {
    if (lost.includes(node)) return [{ node }, ` will never go on: ${LOST_REASON}.`];
    return [{ node }, ` rests ${keys > 1 ? `at ${formatCount(keys)} keys, the first ` : ''}until ${formatMoment(due).split('.')[0]}.`];
  });
}

/** Where most of the time went on the way that took longest. */
export function slowestSentence(path: readonly Leg[]): Sentence {
  const slowest = path.toSorted((a, b) => legTime(b) - legTime(a))[0];
  if (!slowest) return ['Nothing has run yet.'];
  const total = path.reduce((sum, leg) => sum + legTime(leg), 0);
  if (total === 0) return ['It took no time that could be measured.'];
  const share = Math.round((legTime(slowest) / total) * 100);
  const parts = [
    [slowest.run, 'at work'],
    [slowest.timer, 'waiting for a timer'],
    [slowest.queue, 'in the queue'],
  ] as const;
  const spent = parts.filter(([millis]) => millis > 0).map(([millis, doing]) => `${formatDuration(millis)} ${doing}`);
  return [{ node: slowest.node_id }, `${at(slowest.key)} took most of it: ${spent.join(', ')}, ${share} % of the way that took longest.`];
}

/** The nodes of a way, each once, in order. */
export function wayOf(path: readonly Leg[]): string[] {
  return [...new Set(path.map((leg) => leg.node_id))];
}

export function storyOf(story: NodeStory, explanation: ExplanationView, definition: Workflow | null, view: ExecutionView | null): Sentence[] {
  const said: Sentence[] = [];
  const { firing } = story;
  if (firing?.set_off_by) said.push(['It was set off by ', { node: firing.set_off_by }, '.']);
  if (firing) said.push(...waySentences(firing, definition));
  if (firing?.error) said.push([`It failed${at(firing.key)}: ${firing.error}`]);
  const waiting = waitingNow(explanation.waiting, view).filter((each) => each.node_id === story.node_id);
  // A join that has heard of something says what it lacks; that it has not begun goes without saying.
  const missed = story.not_run.filter(({ decided_by }) => decided_by !== null || waiting.length === 0);
  said.push(...missed.map((each) => notRunSentence(each, story.node_id, definition)));
  said.push(...waiting.map(waitingSentence));
  return said;
}

/** Which way it went, where there was a choice. */
function waySentences({ taken, not_taken }: FiringStory, definition: Workflow | null): Sentence[] {
  if (not_taken.length === 0) return [];
  if (taken.length === 0) return [['It followed none of its ways: not ', ...edgeList(not_taken, definition), '.']];
  return [['It followed ', ...edgeList(taken, definition), ' and not ', ...edgeList(not_taken, definition), '.']];
}

function notRunSentence({ key, decided_by, taken, sentence }: NotRun, nodeId: string, definition: Workflow | null): Sentence {
  // The host names the node by its id; here it is the one that is looked at.
  if (decided_by === null) return [asSentence(sentence.startsWith(`${nodeId} `) ? `it${sentence.slice(nodeId.length)}` : sentence)];
  // The host says why in the middle of its own sentence, between the colon and what was followed.
  const why = /: (.*), and followed /s.exec(sentence)?.[1] ?? '';
  const reason = why.startsWith(`${decided_by} `) ? why.slice(decided_by.length) : ' went another way';
  const way: Word[] = taken.length === 0 ? [', and followed no way'] : [', and followed ', ...edgeList(taken, definition)];
  return [`It did not run${at(key)}, because `, { node: decided_by }, reason, ...way, '.'];
}

function edgeList(ids: readonly string[], definition: Workflow | null): Word[] {
  return ids.flatMap((id, index): Word[] => {
    const edge = definition?.edges.find((each) => each.id === id);
    const lead = index === 0 ? '' : index === ids.length - 1 ? ' and ' : ', ';
    return edge ? [`${lead}${nameOf(edge)}`, { node: edge.dst }] : [lead, { code: id }];
  });
}

/** What the author called the edge; its id says nothing to people. */
function nameOf({ label, source_handle }: Edge): string {
  const name = label ?? source_handle ?? '';
  return name === '' || name === 'out' || name === 'output' ? 'the way to ' : `“${name}” to `;
}

function at(key: string): string {
  return key === '' ? '' : ` at ${key}`;
}

function asSentence(text: string): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}
