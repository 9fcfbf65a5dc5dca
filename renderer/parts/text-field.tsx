import { useId } from 'react';

interface TextFieldProps {
  label: string;
  hint?: string;
  type?: 'text' | 'url' | 'password';
  value: string;
  required?: boolean;
  onChange(value: string): void;
}

/** A line of text with its name above and a word of help below. Browsers neither keep nor complete it. */
export function TextField({ label, hint, type = 'text', value, required, onChange }: TextFieldProps) {
  const id = useId();
  const hintId = `${id}-hint`;
  return (
    <div className="text-field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type={type}
        value={value}
        required={required}
        aria-describedby={hint ? hintId : undefined}
        autoComplete={type === 'password' ? 'new-password' : 'off'}
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
      />
      {hint && (
        <p id={hintId} className="field-hint">
          {hint}
        </p>
      )}
    </div>
  );
}
