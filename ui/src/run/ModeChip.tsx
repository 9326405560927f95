import type { ReactElement } from 'react';
import type { Connection, Host } from '../bridge/bridge';
import type { RunsOn } from '../generated/protocol';
import { unseenSince } from '../shared/left';
import { useStore } from '../state/store';

export function modeText(host: Host, runsOn: RunsOn, attached: 'no' | 'live' | 'ended' = 'no'): string {
  if (attached === 'live') return 'LIVE · read only';
  if (attached === 'ended') return 'NOT LIVE';
  if (runsOn === 'cluster') return 'CLUSTER · live';
  switch (host.mode) {
    case 'desktop':
      return 'LOCAL';
    case 'web':
      return 'LOCAL · web';
    case 'replay':
      return `REPLAY (${host.title})`;
  }
}

const CONNECTION_WORDS: { [K in Connection['type']]: string } = {
  connecting: 'Connecting…',
  live: '',
  reconnecting: 'Reconnecting…',
  refused: 'Not connected',
};

/** Whose data this is; a lost connection is told right beside it. */
export function ModeChip(): ReactElement {
  const host = useStore((state) => state.host);
  const connection = useStore((state) => state.connection);
  const folder = useStore((state) => state.folder);
  const runsOn = useStore((state) => state.runsOn);
  const attached = useStore((state) => (state.cluster === null ? 'no' : unseenSince(state.cluster) === null ? 'live' : 'ended'));
  const text = modeText(host, runsOn, attached);
  const word = CONNECTION_WORDS[connection.type];
  return (
    <>
      <span className={`mode-chip ${attached === 'live' ? 'mode-attached' : `mode-${host.mode}`}`} data-testid="mode-chip" title={folder === '' ? text : folder}>
        <span className={`mode-dot mode-dot-${attached === 'ended' ? 'refused' : connection.type}`} aria-hidden="true" />
        <span className="mode-text">{text}</span>
      </span>
      <span role="status" className="top-connection" data-testid="connection" data-connection={connection.type}>
        {word}
      </span>
    </>
  );
}
