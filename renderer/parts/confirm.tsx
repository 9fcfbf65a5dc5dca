import type { ReactNode } from 'react';
import { S } from '../strings.js';
import { Dialog } from './dialog.js';

interface ConfirmProps {
  title: string;
  action: string;
  danger?: boolean;
  disabled?: boolean;
  onConfirm(): void;
  onClose(): void;
  children: ReactNode;
}

/** Asks before something changes. */
export function Confirm({ title, action, danger, disabled, onConfirm, onClose, children }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="dialog-body">{children}</div>
      <div className="dialog-actions">
        <button type="button" className="button" onClick={onClose}>
          {S.cancel}
        </button>
        <button
          type="button"
          className={`button ${danger ? 'button-danger' : 'button-primary'}`}
          disabled={disabled}
          onClick={onConfirm}
        >
          {action}
        </button>
      </div>
    </Dialog>
  );
}
