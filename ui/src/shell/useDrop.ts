import { useEffect, useState } from 'react';
import { openRecording } from '../state/actions';

/** A recording may be dropped anywhere. True while a file hovers over the page. */
export function useDrop(): boolean {
  const [dropping, setDropping] = useState(false);
  useEffect(() => {
    const hasFile = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;
    const over = (event: DragEvent): void => {
      if (!hasFile(event)) return;
      event.preventDefault();
      setDropping(true);
    };
    const leave = (event: DragEvent): void => {
      if (event.relatedTarget === null) setDropping(false);
    };
    const drop = (event: DragEvent): void => {
      if (!hasFile(event)) return;
      // Without this the browser would leave the page to show the file.
      event.preventDefault();
      setDropping(false);
      const [file] = event.dataTransfer?.files ?? [];
      if (file) void openRecording(file);
    };
    window.addEventListener('dragover', over);
    window.addEventListener('dragleave', leave);
    window.addEventListener('drop', drop);
    return () => {
      window.removeEventListener('dragover', over);
      window.removeEventListener('dragleave', leave);
      window.removeEventListener('drop', drop);
    };
  }, []);
  return dropping;
}
