import type { ReactElement, ReactNode } from 'react';
import { Icon, type IconName } from './icons';

interface Props {
  icon: IconName;
  title: string;
  /** What would appear here, and what to do about it. */
  children: ReactNode;
  /** Does it. */
  action?: ReactNode;
}

export function EmptyState({ icon, title, children, action }: Props): ReactElement {
  return (
    <div className="empty-state">
      <Icon name={icon} size={20} />
      <p className="empty-title">{title}</p>
      <div className="empty-text">{children}</div>
      {action}
    </div>
  );
}
