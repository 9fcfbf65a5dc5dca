/**
 * Errors as an OpenAI client expects them. Harnesses decide by status and wording whether to repeat a request: permanent
 * errors must not read like passing ones ("timeout", "rate limit", "terminated", …; list: `dist/utils/retry.js` of pi-ai),
 * and passing ones must.
 */
import { type ErrorCode, TackroomError, toErrorShape } from '../../contract/errors.js';

const STATUS: Partial<Record<ErrorCode, number>> = {
  BAD_ARGUMENT: 400,
  UNSUPPORTED: 400,
  CONTEXT_FULL: 400,
  UNAUTHORIZED: 401,
  REFUSED: 403,
  NOT_FOUND: 404,
  BUSY: 429,
  INTERNAL: 500,
  VAULT_LOCKED: 403,
  // Asking again changes nothing about a file.
  VAULT_DAMAGED: 500,
  MODEL_UNSUPPORTED: 500,
  MODEL_CORRUPT: 500,
  TOKENIZER_MISMATCH: 500,
  ADAPTER_CORRUPT: 500,
  ADAPTER_MISMATCH: 500,
};

const TYPE: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'invalid_request_error',
  429: 'rate_limit_error',
};

/** An answer that is not 200. */
export class HttpError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    /** Sent instead of our own form: the body of an upstream server as it came, with its headers (when to ask again, how much is left). */
    readonly verbatim: { body: Buffer; headers: Record<string, string | string[]> } | null = null,
  ) {
    super(message);
    this.name = 'HttpError';
  }
}

export interface ErrorBody {
  error: { message: string; type: string; param: null; code: string };
}

export function errorBody(error: HttpError): ErrorBody {
  return {
    error: { message: error.message, type: TYPE[error.status] ?? 'server_error', param: null, code: error.code },
  };
}

/** Any failure as an HTTP one. What goes away by itself says so, in words that make a harness ask again. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  const shape = toErrorShape(error);
  if (shape.code === 'CONTEXT_FULL')
    return new HttpError(
      400,
      'context_length_exceeded',
      `The prompt exceeds the context window of the model: ${shape.message}`,
    );
  const status = STATUS[shape.code] ?? 503;
  const passing =
    status === 503 ? ' The service is temporarily unavailable.' : status === 429 ? ' Too many requests.' : '';
  const hint = shape.hint ? ` ${shape.hint}` : '';
  return new HttpError(status, shape.code, `${shape.message}${passing}${hint}`);
}

/** The code a record keeps of a failure. */
export function failureText(error: unknown): string {
  if (error instanceof HttpError) return `${error.code}: ${error.message}`;
  if (error instanceof TackroomError) return `${error.code}: ${error.message}`;
  return toErrorShape(error).message;
}
