import { type ReactElement, useRef } from 'react';
import { Button, IconButton } from '../shared/Button';
import { saveText } from '../shared/save';
import { closeRecording, fetchRecording, openRecording, replayAgain } from '../state/actions';
import { shownSummary } from '../state/selectors';
import { useStore } from '../state/store';

/** Recordings: open one from a file, play it again, close it; save the shown execution as one. */
export function RecordingControls(): ReactElement {
  const mode = useStore((state) => state.host.mode);
  const summary = useStore(shownSummary);
  const finished = summary !== null && summary.phase !== 'running';

  const save = async (): Promise<void> => {
    if (!summary) return;
    const recording = await fetchRecording(summary.execution_id);
    if (recording) saveText(`${fileName(summary.title)}.recording.json`, JSON.stringify(recording));
  };

  if (mode === 'replay') {
    return (
      <>
        <Button icon="replay" onClick={replayAgain}>
          Play again
        </Button>
        <OpenRecording />
        <Button icon="close" data-testid="close-recording" onClick={closeRecording}>
          Close
        </Button>
      </>
    );
  }
  return (
    <>
      {/* The desktop window has no downloads. */}
      {mode === 'web' && finished && (
        <IconButton icon="save" label="Save recording" data-testid="save-recording" onClick={() => void save()} />
      )}
      <OpenRecording />
    </>
  );
}

export function OpenRecording({ text }: { text?: string }): ReactElement {
  const file = useRef<HTMLInputElement>(null);
  const pick = (): void => file.current?.click();
  return (
    <>
      {text === undefined ? (
        <IconButton icon="folder" label="Open recording…" onClick={pick} />
      ) : (
        <Button icon="folder" onClick={pick}>
          {text}
        </Button>
      )}
      <input
        ref={file}
        hidden
        type="file"
        accept=".runeglass,.json,application/json"
        data-testid="recording-file"
        onChange={(event) => {
          const [chosen] = event.target.files ?? [];
          if (chosen) void openRecording(chosen);
          // The same file may be chosen again.
          event.target.value = '';
        }}
      />
    </>
  );
}

function fileName(title: string): string {
  return title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-|-$/g, '') || 'execution';
}
