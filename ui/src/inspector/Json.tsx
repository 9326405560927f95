import type { ComponentProps, ReactElement } from 'react';
import { JsonView } from '../shared/json/JsonView';
import { useStore } from '../state/store';
import { HiddenPayload } from './HiddenPayload';

/** A value of the workflow. On a stage nobody wants to show those of others. */
export function Json(props: ComponentProps<typeof JsonView>): ReactElement {
  const hidden = useStore((state) => state.preferences.presenter);
  return hidden ? <HiddenPayload /> : <JsonView {...props} />;
}
