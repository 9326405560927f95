/** An execution that ran elsewhere, as files. */
import { execFileSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { type Place, binary } from './place';

export interface CaseFiles {
  id: string;
  /** One execution with everything in it. */
  file: string;
  /** The same as a document. */
  document: string;
  /** The store it ran in. */
  store: string;
}

export function makeCase(place: Place, name = 'case'): CaseFiles {
  const program = binary('RUNEGLASS_BIN', '../target/debug/runeglass');
  const at = (ending: string): string => join(dirname(place.store), `${name}.${ending}`);
  const [store, file, document] = [at('db'), at('runeglass'), at('json')];
  const ran = execFileSync(program, ['run', join(place.workflows, 'review.json'), '--json', '--virtual-time', '--store', store], { encoding: 'utf8' });
  const { execution_id: id } = JSON.parse(ran.trim().split('\n').at(-1) ?? '{}') as { execution_id: string };
  for (const out of [file, document]) execFileSync(program, ['export', id, '--store', store, '-o', out]);
  return { id, file, document, store };
}
