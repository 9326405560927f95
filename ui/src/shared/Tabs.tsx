import { type KeyboardEvent, type ReactElement, type ReactNode, useId } from 'react';
import './tabs.css';

export interface TabDescription<T extends string> {
  id: T;
  label: string;
  alarming?: boolean;
  /** Stands behind the label. */
  badge?: ReactNode;
}

interface Props<T extends string> {
  tabs: TabDescription<T>[];
  active: T;
  onSelect: (tab: T) => void;
  /** Stands at the end of the line of tabs. */
  aside?: ReactNode;
  /** What the tabs are tabs of, where that does not go without saying. */
  label?: string;
  children: ReactNode;
}

export function Tabs<T extends string>({ tabs, active, onSelect, aside, label, children }: Props<T>): ReactElement {
  const id = useId();
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    const index = tabs.findIndex((tab) => tab.id === active);
    const next = tabs[(index + by + tabs.length) % tabs.length];
    if (!next) return;
    onSelect(next.id);
    document.getElementById(`${id}-${next.id}`)?.focus();
  };
  return (
    <div className="tabs">
      <div className="tabs-line">
        <div role="tablist" aria-label={label} className="tabs-list" onKeyDown={onKeyDown}>
          {tabs.map((tab) => (
            <button
              key={tab.id}
              id={`${id}-${tab.id}`}
              type="button"
              role="tab"
              data-testid={`tab-${tab.id}`}
              aria-selected={tab.id === active}
              aria-controls={`${id}-panel`}
              tabIndex={tab.id === active ? 0 : -1}
              className={tab.alarming ? 'tab tab-alarming' : 'tab'}
              onClick={() => onSelect(tab.id)}
            >
              {tab.label}
              {tab.badge}
            </button>
          ))}
        </div>
        {aside}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${active}`} className="tabs-panel">
        {children}
      </div>
    </div>
  );
}
