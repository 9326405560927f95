import type { ReactElement } from 'react';
import { Icon } from '../shared/icons';
import { useStore } from '../state/store';

/** A file was opened beside a window that has the store: it can be looked at and run, and nobody should count on finding it again. */
export function UnkeptBanner(): ReactElement | null {
  const unkept = useStore((state) => state.keepsNothing && state.host.mode !== 'replay');
  if (!unkept) return null;
  return (
    <div className="unkept-banner" role="status" data-testid="unkept-banner">
      <Icon name="warning" />
      <p>
        <strong>This window keeps nothing.</strong> Another one has the store, so what runs here is gone when this one closes. To keep it, close the other one and
        open this file again.
      </p>
    </div>
  );
}
