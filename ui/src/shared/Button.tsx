import type { ButtonHTMLAttributes, ReactElement } from 'react';
import { Icon, type IconName } from './icons';

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & { icon?: IconName; look?: 'plain' | 'primary' | 'danger' };

export function Button({ icon, look = 'plain', className = '', children, ...rest }: ButtonProps): ReactElement {
  return (
    <button type="button" className={`button button-${look} ${className}`} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

type IconButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & { icon: IconName; label: string };

/** The label is both the tooltip and what a screen reader says. */
export function IconButton({ icon, label, className = '', ...rest }: IconButtonProps): ReactElement {
  return (
    <button type="button" className={`icon-button ${className}`} title={label} aria-label={label} {...rest}>
      <Icon name={icon} />
    </button>
  );
}
