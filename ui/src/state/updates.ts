/** What a batch of updates does to the state. Pure, so that order and loss can be tested. */
import type { ClusterView, ExecutionSummary, Problem, Update, ViewPatch } from '../generated/protocol';
import { applyPatches } from './patch';
import type { State } from './store';

export interface Reduced {
  state: Pick<State, 'workflows' | 'executions' | 'unlisted' | 'open' | 'heldChanges'>;
  troubles: Problem[];
  /** Patches of the open execution whose view has not arrived yet. */
  waiting: ViewPatch[];
}

export function reduceUpdates(before: Reduced['state'], updates: readonly Update[]): Reduced {
  let { workflows, executions, unlisted, heldChanges } = before;
  const troubles: Problem[] = [];
  const patches: ViewPatch[] = [];
  for (const update of updates) {
    switch (update.type) {
      case 'workflows':
        workflows = update.data;
        break;
      case 'execution':
        patches.push(update.data);
        break;
      case 'forgotten':
        unlisted -= unknownAmong(executions, update.data, unlisted);
        executions = without(executions, update.data);
        break;
      case 'control':
        heldChanges += 1;
        break;
      case 'trouble':
        troubles.push(update.data);
        break;
    }
  }
  executions = withSummaries(executions, patches.map((patch) => patch.summary));
  const { open, waiting } = openAfter(before.open, patches);
  return { state: { workflows, executions, unlisted, open, heldChanges }, troubles, waiting };
}

function without(executions: ExecutionSummary[], forgotten: readonly string[]): ExecutionSummary[] {
  const gone = new Set(forgotten);
  return executions.filter(({ execution_id }) => !gone.has(execution_id));
}

function unknownAmong(executions: ExecutionSummary[], forgotten: readonly string[], most: number): number {
  if (most === 0) return 0;
  const known = new Set(executions.map(({ execution_id }) => execution_id));
  return Math.min(most, forgotten.filter((id) => !known.has(id)).length);
}

/** The latest word about the attached cluster. */
export function clusterAfter(before: ClusterView | null, updates: readonly Update[]): ClusterView | null {
  const news = updates.findLast((update) => update.type === 'cluster');
  return news ? news.data : before;
}

/** The host does not answer: from here on nothing is known of the cluster, whatever the host still sees of it. */
export function clusterUnheard(cluster: ClusterView | null, problem: Problem, at: number): ClusterView | null {
  if (cluster === null || cluster.ended !== null) return cluster;
  const { queues_as_of, redis_as_of, troubles } = cluster;
  return { ...cluster, ended: at, queues_as_of: queues_as_of ?? at, redis_as_of: redis_as_of ?? at, troubles: [problem, ...troubles] };
}

/** Executions that a page remembers: a cluster that is looked at for long has no end of them. */
export const MOST_LISTED = 2_000;

/** One that was opened by its name is listed from then on. What begins now was never among those that are not. */
export function withOpened({ executions, unlisted }: Pick<State, 'executions' | 'unlisted'>, summary: ExecutionSummary): Pick<State, 'executions' | 'unlisted'> {
  const known = executions.some(({ execution_id }) => execution_id === summary.execution_id);
  const old = !known && summary.started_at < (executions[0]?.started_at ?? 0);
  return { executions: withSummaries(executions, [summary]), unlisted: old ? Math.max(0, unlisted - 1) : unlisted };
}

/** Known executions stay where they are; new ones come first, and of those that have ended the oldest go. */
export function withSummaries(
  executions: ExecutionSummary[],
  summaries: readonly ExecutionSummary[],
): ExecutionSummary[] {
  if (summaries.length === 0) return executions;
  const latest = new Map(summaries.map((summary) => [summary.execution_id, summary]));
  const known = executions.map((execution) => {
    const replacement = latest.get(execution.execution_id);
    latest.delete(execution.execution_id);
    return replacement ?? execution;
  });
  const fresh = [...latest.values()].sort((a, b) => b.started_at - a.started_at);
  return withoutOldest([...fresh, ...known]);
}

function withoutOldest(executions: ExecutionSummary[]): ExecutionSummary[] {
  let tooMany = executions.length - MOST_LISTED;
  if (tooMany <= 0) return executions;
  return executions
    .toReversed()
    .filter(({ ended_at }) => {
      const goes = ended_at !== null && tooMany > 0;
      if (goes) tooMany -= 1;
      return !goes;
    })
    .toReversed();
}

function openAfter(open: State['open'], patches: ViewPatch[]): { open: State['open']; waiting: ViewPatch[] } {
  if (open.type !== 'execution') return { open, waiting: [] };
  const mine = patches.filter((patch) => patch.execution_id === open.executionId);
  if (mine.length === 0) return { open, waiting: [] };
  if (open.view === null) return { open, waiting: mine };
  const view = applyPatches(open.view, mine);
  return { open: view === open.view ? open : { ...open, view }, waiting: [] };
}
