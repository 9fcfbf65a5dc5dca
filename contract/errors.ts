/** Error codes that cross a process, the window or the command line. Message: one sentence. Hint: what to do. */
export const ERROR_CODES = [
  'BAD_ARGUMENT',
  'NOT_FOUND',
  'ADDON_MISSING',
  'MODEL_NOT_FOUND',
  'MODEL_UNSUPPORTED',
  'MODEL_CORRUPT',
  'TOKENIZER_MISMATCH',
  'ADAPTER_CORRUPT',
  'ADAPTER_MISMATCH',
  'CONTEXT_FULL',
  'OUT_OF_MEMORY',
  'NOT_FINITE',
  'IO',
  'DISK_FULL',
  'PORT_IN_USE',
  'NO_SANDBOX',
  'HARNESS_MISSING',
  'PI_PROMPT_DIFFERS',
  'SERVICE_GONE',
  'DEADLINE',
  'CANCELLED',
  'REFUSED',
  'UNAUTHORIZED',
  'BUSY',
  'VAULT_LOCKED',
  'VAULT_DAMAGED',
  'UNSUPPORTED',
  'INTERNAL',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

export interface ErrorShape {
  code: ErrorCode;
  message: string;
  hint?: string;
}

/** The one error class of the app: what happened and why (`message`), a stable `code`, and what to do (`hint`). */
export class TackroomError extends Error {
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  constructor(code: ErrorCode, message: string, hint?: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'TackroomError';
    this.code = code;
    this.hint = hint;
  }
}

const KNOWN = new Set<string>(ERROR_CODES);

/** What to do where the thrower, native code above all, gave no hint of its own. */
const HINTS: Partial<Record<ErrorCode, string>> = {
  ADDON_MISSING: 'Run: npm run setup',
  MODEL_NOT_FOUND: 'Name a folder with config.json, model.safetensors and tokenizer.json.',
  MODEL_UNSUPPORTED: 'docs/engine.md lists the architectures and element types that the engine reads.',
  MODEL_CORRUPT: 'Copy or download the model again; the file is left as it is.',
  ADAPTER_CORRUPT: 'Copy or train the adapter again; the file is left as it is.',
  ADAPTER_MISMATCH: 'Use the adapter with the base model it was trained on.',
  CONTEXT_FULL: 'Shorten the conversation or use a model with a longer context.',
  NOT_FINITE: 'Lower the learning rate, or go back to an earlier checkpoint.',
  OUT_OF_MEMORY: 'Close other programs or use a smaller model.',
  DEADLINE: 'The machine may be busy; try again.',
};

/** What went wrong with a file, by errno. */
const FILE_ERRORS: Record<string, string> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be used by this user',
  EPERM: 'may not be used by this user',
  EROFS: 'lies on a read-only disk',
  EISDIR: 'is a folder, not a file',
  ENOTDIR: 'leads through something that is not a folder',
  EEXIST: 'exists already',
  ELOOP: 'has too many symbolic links',
  ENAMETOOLONG: 'is too long a name',
};

/** One line, whatever was thrown: a message of several lines is a document or a stack, its first words say enough. */
function sentenceOf(thrown: unknown): string {
  const error = (thrown ?? {}) as { message?: unknown; code?: unknown; path?: unknown; issues?: unknown };
  const issue = Array.isArray(error.issues) ? (error.issues[0] as { path: unknown[]; message: string }) : undefined;
  if (issue) return `${issue.path.join('.') || 'The value'} is not valid: ${issue.message}.`;
  const file = FILE_ERRORS[String(error.code)];
  if (file && typeof error.path === 'string') return `${error.path} ${file}.`;
  const text = typeof error.message === 'string' ? error.message : String(thrown);
  return text.replace(/\s*\n\s*/g, ' ').slice(0, 500);
}

/** Any thrown value as a serialisable shape; unknown errors become INTERNAL (or DISK_FULL / IO by errno). */
export function toErrorShape(error: unknown): ErrorShape {
  if (error instanceof TackroomError)
    return { code: error.code, message: error.message, hint: error.hint ?? HINTS[error.code] };
  const e = error as { code?: unknown; message?: unknown; hint?: unknown };
  const message = sentenceOf(error);
  const raw = typeof e?.code === 'string' ? e.code : '';
  const hint = typeof e?.hint === 'string' ? e.hint : undefined;
  if (KNOWN.has(raw)) return { code: raw as ErrorCode, message, hint: hint ?? HINTS[raw as ErrorCode] };
  if (raw === 'ENOSPC' || raw === 'EDQUOT' || raw === 'SQLITE_FULL')
    return {
      code: 'DISK_FULL',
      message: `The disk is full: ${message}.`,
      hint: 'Free some space and start again; nothing already recorded is lost.',
    };
  if (raw === 'EADDRINUSE') return { code: 'PORT_IN_USE', message, hint: 'Choose another port.' };
  // `ERR_…` are Node's complaints about our own code.
  if (/^E(?!RR_)|^SQLITE_/.test(raw)) return { code: 'IO', message, hint };
  return { code: 'INTERNAL', message, hint };
}

export function fromErrorShape(shape: ErrorShape): TackroomError {
  return new TackroomError(shape.code, shape.message, shape.hint);
}
