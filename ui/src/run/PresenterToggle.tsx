import type { ReactElement } from 'react';
import { IconButton } from '../shared/Button';
import { setPresenter, useStore } from '../state/store';

export function PresenterToggle(): ReactElement {
  const presenter = useStore((state) => state.preferences.presenter);
  return (
    <IconButton
      icon="present"
      label={presenter ? 'Leave presenter mode' : 'Present: large type, slow motion, values hidden'}
      aria-pressed={presenter}
      className="presenter-toggle"
      data-testid="presenter"
      onClick={() => setPresenter(!presenter)}
    />
  );
}
