/** Files that are opened by the host, and what was open before. */
import { ProblemError, ask, problemOf } from '../bridge/bridge';
import type { OpenedFile } from '../generated/protocol';
import { connect, homeBridge, openAtHome, openRecording } from './actions';
import type { TakenCase } from './cases';
import { openWorkflow, showProblem, useStore } from './store';

/** What the window was started with, by a double click or in a terminal. */
export async function openAsked(): Promise<void> {
  await complaining(async () => {
    const asked = await homeBridge()?.files?.asked();
    if (asked) await show(asked);
  });
  await fetchRecent();
}

export async function fetchRecent(): Promise<void> {
  await complaining(async () => {
    const recent = await homeBridge()?.files?.recent();
    if (recent) useStore.setState({ recent });
  });
}

/** A file that is gone leaves everything as it was; the list says so from then on. */
export async function reopen(path: string): Promise<void> {
  await complaining(async () => {
    const opened = await homeBridge()?.files?.reopen(path);
    if (opened) await show(opened);
  });
  await fetchRecent();
}

export async function forget(path: string): Promise<void> {
  await complaining(async () => homeBridge()?.files?.forget(path));
  await fetchRecent();
}

export async function reopenCase({ name, executionId }: TakenCase): Promise<void> {
  const home = homeBridge();
  if (!home) return;
  await complaining(async () => {
    await ask(home, { type: 'execution', execution_id: executionId }).catch((thrown: unknown) => {
      const problem = problemOf(thrown);
      throw problem.code === 'not_found' ? goneCase(name) : thrown;
    });
    await openAtHome(executionId);
  });
}

function goneCase(name: string): ProblemError {
  const message = `What was in ${name} is not in this store any more.`;
  return new ProblemError({ code: 'not_found', message, hint: 'Open the file again to take it in once more.' });
}

async function show(opened: OpenedFile): Promise<void> {
  switch (opened.type) {
    case 'store': {
      const home = homeBridge();
      if (home) connect(home);
      return;
    }
    case 'execution':
      return openAtHome(opened.data.execution_id);
    case 'recording':
      return openRecording(new File([opened.data.text], opened.data.name));
    case 'workflow':
      return openWorkflow(opened.data.path);
  }
}

async function complaining(wish: () => Promise<unknown>): Promise<void> {
  try {
    await wish();
  } catch (thrown) {
    showProblem(problemOf(thrown));
  }
}
