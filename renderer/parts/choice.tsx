import type { ReactNode } from 'react';
import { S } from '../strings.js';

interface ChoiceProps<T extends string> {
  label: string;
  value: T | undefined;
  options: readonly T[];
  name(option: T): string;
  onChange(value: T | undefined): void;
}

/** One of several, or any. */
export function Choice<T extends string>({ label, value, options, name, onChange }: ChoiceProps<T>): ReactNode {
  return (
    <label className="field">
      <span>{label}</span>
      <select
        value={value ?? ''}
        onChange={(event) => onChange(options.find((option) => option === event.target.value))}
      >
        <option value="">{S.sessions.any}</option>
        {options.map((option) => (
          <option key={option} value={option}>
            {name(option)}
          </option>
        ))}
      </select>
    </label>
  );
}
