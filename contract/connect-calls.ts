/** Calls of the Connect screen: harnesses, the servers behind them, the vault, the login item, and who was turned away. */
import { z } from 'zod';

export const ConnectHarness = z.enum(['pi', 'opencode', 'hermes']);
export type ConnectHarness = z.infer<typeof ConnectHarness>;

const text = z.string().max(4000);
const port = z.int().min(0).max(65_535);
const nothing = z.strictObject({});
const harness = z.strictObject({ harness: ConnectHarness });
const done = z.object({});

const ConnectionState = z.discriminatedUnion('state', [
  z.object({ state: z.enum(['none', 'edited']) }),
  z.object({ state: z.literal('elsewhere'), port }),
  z.object({ state: z.literal('other-port'), port, ours: port.nullable() }),
  z.object({ state: z.enum(['reaches', 'nobody', 'stranger']), port }),
  z.object({ state: z.literal('unreadable'), reason: text, hint: text.nullable() }),
]);

/** Another server that answers instead of the engine. */
const ServerView = z.object({
  baseUrl: text,
  api: z.enum(['chat', 'responses', 'messages']).nullable(),
  model: text.nullable(),
  /** Where its key is; the key itself is never shown. */
  key: z.discriminatedUnion('from', [
    z.object({ from: z.enum(['none', 'vault']) }),
    z.object({ from: z.literal('environment'), name: text }),
  ]),
  /** What is asked stays on this machine. */
  local: z.boolean(),
});
export type ServerView = z.infer<typeof ServerView>;

export const HarnessView = z.object({
  harness: ConnectHarness,
  /** Where its settings lie. */
  files: z.array(text).max(8),
  connection: ConnectionState,
  /** null: the built-in engine. */
  server: ServerView.nullable(),
  /** What the harness calls the model, and tokens that the one behind it holds. */
  model: z.object({ id: text, contextTokens: z.int().nullable() }),
  /** A command that connects it without a change of its files; null: there is none. It names no token. */
  environmentCommand: text.nullable(),
});
export type HarnessView = z.infer<typeof HarnessView>;

export const ConnectState = z.object({
  port,
  harnesses: z.array(HarnessView).max(8),
  vault: z.object({ protection: z.enum(['key-file', 'passphrase', 'keychain']).nullable(), locked: z.boolean() }),
  /** Why the vault cannot be used; null: it can. */
  vaultProblem: z.object({ message: text, hint: text.nullable() }).nullable(),
  /** The app can protect the vault with the system's keychain. */
  keychain: z.boolean(),
  loginItem: z.object({ on: z.boolean(), place: text.nullable() }).nullable(),
  refused: z.object({
    count: z.int().nonnegative(),
    last: z
      .object({
        at: text,
        port: z.enum(['gateway', 'window']),
        why: z.enum(['origin', 'host', 'token']),
        from: z.string().max(200),
      })
      .nullable(),
    log: text,
  }),
});
export type ConnectState = z.infer<typeof ConnectState>;

export const ConnectPlan = z.object({
  /** A unified diff; the token in it is shortened. */
  diff: z.string().max(2_000_000),
  notes: z.array(text).max(20),
  /** Names this change for the call that makes it. */
  digest: z.string().max(100),
  /** Why it cannot be made; null: it can. */
  conflict: z.object({ message: text, hint: text.nullable() }).nullable(),
});
export type ConnectPlan = z.infer<typeof ConnectPlan>;

export const TestResult = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('arrived'), ms: z.number() }),
  z.object({ outcome: z.enum(['nobody', 'stranger']) }),
  z.object({ outcome: z.literal('failed'), reason: text }),
]);
export type TestResult = z.infer<typeof TestResult>;

const plan = { input: z.strictObject({ harness: ConnectHarness, undo: z.boolean() }), output: ConnectPlan };

export const CONNECT_CALLS = {
  'connect.state': { input: nothing, output: ConnectState },
  /** Starts the harness for its version: takes seconds the first time. */
  'connect.program': {
    input: harness,
    output: z.object({ program: z.object({ path: text, version: text.nullable() }).nullable() }),
  },
  'connect.plan': plan,
  /** Makes the change that `digest` names, and no other. */
  'connect.apply': {
    input: z.strictObject({ harness: ConnectHarness, undo: z.boolean(), digest: z.string().max(100) }),
    output: done,
  },
  /** A request of one token, as the harness would send it. */
  'connect.test': { input: harness, output: TestResult },
  'connect.setServer': {
    input: z.strictObject({
      harness: ConnectHarness,
      baseUrl: z.string().max(1000),
      api: z.enum(['chat', 'responses', 'messages']).nullable(),
      model: z.string().max(200).nullable(),
      /** null: the one that was given for the same server before, if any. */
      key: z.string().max(5000).nullable(),
    }),
    output: done,
  },
  /** The built-in engine answers again; the server's key is deleted for good. */
  'connect.forgetServer': { input: harness, output: done },
  'connect.unlockVault': { input: z.strictObject({ passphrase: z.string().min(1).max(1000) }), output: done },
  'connect.useKeychain': { input: nothing, output: done },
  'connect.setLoginItem': { input: z.strictObject({ on: z.boolean() }), output: done },
} as const;
