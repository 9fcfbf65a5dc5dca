/** What the gateway and its settling thread say to each other. */
import type { Origin, Request } from '../../../contract/records.js';
import type { Api } from '../dialects/dialect.js';
import type { CallVerdict, GuardInput } from '../services.js';
import type { Entry, Opened } from './settler.js';

export type ToThread =
  | { kind: 'open'; call: number; id: string; api: Api; body: Uint8Array; loopKey: string | null; origin: Origin }
  | { kind: 'check'; call: number; id: string; input: Omit<GuardInput, 'request'> }
  | { kind: 'record'; call: number; entry: Entry }
  | { kind: 'release'; workerKey: string }
  | { kind: 'close' };

export type FromThread =
  | { kind: 'ready' }
  | { kind: 'done'; call: number; result: Opened | CallVerdict[] | Request | null }
  /** `code` of the disk (`SQLITE_FULL`, …) or of ours; with `status` it is an HttpError. */
  | { kind: 'failed'; call: number; message: string; code: string | null; status: number | null };
