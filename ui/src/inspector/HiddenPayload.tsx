import type { ReactElement } from 'react';
import { Button } from '../shared/Button';
import { EmptyState } from '../shared/EmptyState';
import { setPresenter } from '../state/store';

export function HiddenPayload(): ReactElement {
  return (
    <EmptyState icon="eye" title="Values are hidden" action={<Button onClick={() => setPresenter(false)}>Leave presenter mode</Button>}>
      Presenter mode shows what happens, and nobody’s data.
    </EmptyState>
  );
}
