import type { ReactElement } from 'react';
import type { KeyFamily, RedisView } from '../generated/protocol';
import { formatBytes, formatCount } from '../shared/format';
import { Icon } from '../shared/icons';
import { AsOf } from './AsOf';

/** The words of the questions, as Redis calls them. */
const INFO = 'INFO';
const MEMORY_USAGE = 'MEMORY USAGE';

export function RedisMemory({ redis, asOf }: { redis: RedisView | null; asOf: number | null }): ReactElement {
  const most = Math.max(1, ...(redis?.families ?? []).map(({ bytes }) => bytes ?? 0));
  const allowed = !redis?.refused.includes(MEMORY_USAGE);
  return (
    <section className="cluster-part" aria-label="Redis memory">
      <h3>
        Redis memory
        {redis && <span className="cluster-dim numbers">{wholeWords(redis)}</span>}
        {redis && <AsOf at={asOf} />}
      </h3>
      {redis && redis.families.length > 0 ? (
        <table className="cluster-table">
          <thead>
            <tr>
              <th scope="col">Keys of the kind</th>
              <th scope="col">Keys</th>
              <th scope="col">Memory, estimated</th>
              <th scope="col">Without an end</th>
            </tr>
          </thead>
          <tbody>
            {redis.families.map((family) => (
              <Row key={family.pattern} family={family} most={most} allowed={allowed} />
            ))}
          </tbody>
        </table>
      ) : (
        <p className="cluster-none">How much each kind of key takes appears here {asOf === null ? 'after the first look through Redis' : 'when Redis can be asked'}.</p>
      )}
    </section>
  );
}

function wholeWords({ version, used_bytes, refused }: RedisView): string {
  if (refused.includes(INFO)) return `how much is in use: this user is not allowed to ask (${INFO})`;
  const parts = [used_bytes === null ? '' : `${formatBytes(used_bytes)} in use`, version === null ? '' : `version ${version}`];
  return parts.filter((part) => part !== '').join(' · ');
}

interface RowProps {
  family: KeyFamily;
  most: number;
  /** To ask how large a key is. */
  allowed: boolean;
}

function Row({ family: { pattern, keys, bytes, without_end }, most, allowed }: RowProps): ReactElement {
  const unknown = <span className="cluster-dim">{allowed ? 'not known' : 'not allowed to ask'}</span>;
  return (
    <tr>
      <th scope="row">
        <code title={pattern}>{pattern}</code>
      </th>
      <td className="numbers">{formatCount(keys)}</td>
      <td className="numbers">
        <span className="cluster-bar" aria-hidden="true">
          <span style={{ width: `${((bytes ?? 0) / most) * 100}%` }} />
        </span>
        {bytes === null ? unknown : formatBytes(bytes)}
      </td>
      <td className="numbers">
        {without_end === null ? (
          unknown
        ) : without_end > 0 ? (
          <span className="cluster-endless" title="These keys never go away by themselves">
            <Icon name="warning" size={12} /> {formatCount(without_end)}
          </span>
        ) : (
          'none'
        )}
      </td>
    </tr>
  );
}
