import type { ReactElement } from 'react';
import { dismissToast, useStore } from '../state/store';
import { IconButton } from '../shared/Button';
import { Icon } from '../shared/icons';

/** Problems of failed calls: the sentence, then what to do. They stay until they are dismissed. */
export function Toasts(): ReactElement {
  const toasts = useStore((state) => state.toasts);
  return (
    <div className="toasts" role="alert">
      {toasts.map(({ id, problem }) => (
        <div key={id} className="toast" data-testid="toast">
          <Icon name="error" />
          <div className="toast-text">
            <p>{problem.message}</p>
            {problem.hint !== '' && <p className="toast-hint">{problem.hint}</p>}
          </div>
          <IconButton icon="close" label="Dismiss" onClick={() => dismissToast(id)} />
        </div>
      ))}
    </div>
  );
}
