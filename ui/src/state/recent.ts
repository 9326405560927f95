/** What was open before, from the host and from the page, as one list. */
import type { RecentKind } from '../generated/protocol';
import { forget, reopen, reopenCase } from './files';
import { type State, forgetCase } from './store';

export interface Recent {
  id: string;
  /** Of the file, without its folder. */
  name: string;
  /** All that is known of where it is. */
  where: string;
  kind: RecentKind;
  missing: boolean;
  open: () => void;
  remove: () => void;
}

/** Without the store that is open: nobody needs to be led to where they are. */
export function recentOf(state: Pick<State, 'recent' | 'preferences'>): Recent[] {
  const files = state.recent.filter((file) => !file.open).map(({ path, kind, missing }): Recent => ({
    id: path,
    name: path.split(/[\\/]/).at(-1) ?? path,
    where: path,
    kind,
    missing,
    open: () => void reopen(path),
    remove: () => void forget(path),
  }));
  const taken = state.preferences.cases.map((each): Recent => ({
    id: `execution ${each.executionId}`,
    name: each.name,
    where: `taken into the store as ${each.executionId}`,
    kind: 'case',
    missing: false,
    open: () => void reopenCase(each),
    remove: () => forgetCase(each.executionId),
  }));
  return [...files, ...taken];
}
