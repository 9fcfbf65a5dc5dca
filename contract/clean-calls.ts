/** What the window asks about cleaned copies: their verdicts, what is replaced where, and what the user decides about it. */
import { z } from 'zod';
import { CleanSummary, CleanVerdict } from './clean.js';
import { Session } from './records.js';

/** Records of one page, sessions of one, kinds that are named. */
export const CLEAN_PAGE = 20;
export const CLEAN_LIST = 50;
export const MAX_KINDS = 2000;
/** Fields and places of one record that are sent; what is left out is counted. */
export const MAX_FIELDS = 400;
export const MAX_SELECTED = 2000;
/** Longest text between two places, in UTF-16 units: folded, and when the whole record is asked for. */
export const FOLDED_TEXT = 600;
export const WHOLE_TEXT = 200_000;

const count = z.number().int().nonnegative();
const id = z.string().min(1).max(200);
const nothing = z.strictObject({});
const name = z.string().regex(/^[A-Za-z][A-Za-z0-9 _-]{0,40}$/, 'letters, digits, blanks, _ and -');
const value = z.string().min(3).max(MAX_SELECTED);

/** Part of a text; `place`: it was found, or stands for what was. */
export const TextPart = z.object({
  text: z.string(),
  place: count.nullable(),
  /** Characters left out after it. */
  hidden: count,
});
export type TextPart = z.infer<typeof TextPart>;

export const CleanField = z.object({
  path: z.string().max(500),
  /** The name of a member was replaced, not a value. */
  isKey: z.boolean(),
  original: z.array(TextPart),
  /** null: the copy of the record was withheld. */
  clean: z.array(TextPart).nullable(),
});
export type CleanField = z.infer<typeof CleanField>;

/** One record of the session, as it was recorded and as it would be exported. */
export const CleanRecord = z.object({
  record: count,
  /** `session`: what stands around the steps. */
  who: z.string().max(40),
  bytes: count,
  withheld: z.boolean(),
  places: z.array(z.object({ place: count, kind: count, path: z.string().max(500) })).max(MAX_FIELDS),
  /** Places that are not sent. */
  hiddenPlaces: count,
  fields: z.array(CleanField).max(MAX_FIELDS),
  /** Fields that are not sent. */
  hiddenFields: count,
});
export type CleanRecord = z.infer<typeof CleanRecord>;

/** A value by its stand-in. */
export const CleanKind = z.object({
  kind: count,
  family: z.string().max(100),
  certainty: z.string().max(20),
  placeholder: z.string().max(200),
  count,
  /** Told by its looks or its neighbours alone. */
  low: z.boolean(),
  /** By a rule or a decision of the user. */
  own: z.boolean(),
});
export type CleanKind = z.infer<typeof CleanKind>;

export const CleanPhase = z.enum(['start', 'read', 'find', 'replace', 'canary']);
export type CleanPhase = z.infer<typeof CleanPhase>;

export const CleanState = z.discriminatedUnion('state', [
  z.object({ state: z.literal('working'), phase: CleanPhase, done: count, total: count, ms: count }),
  z.object({
    state: z.literal('ready'),
    summary: CleanSummary,
    kinds: z.array(CleanKind).max(MAX_KINDS),
    /** Kinds that are not sent. */
    hiddenKinds: count,
    /** Names this look at it: pages of another one do not fit. */
    version: z.string().max(100),
  }),
  z.object({
    state: z.literal('failed'),
    error: z.object({ code: z.string(), message: z.string(), hint: z.string().optional() }),
  }),
  z.object({ state: z.literal('none') }),
]);
export type CleanState = z.infer<typeof CleanState>;

export const DecisionView = z.object({
  id,
  createdAt: z.number(),
  /** Not for this session alone. */
  always: z.boolean(),
  do: z.enum(['keep', 'redact', 'pattern', 'deny', 'kind', 'looked']),
  /** Kind or name. */
  name: z.string(),
  /** Shown in the window only. */
  value: z.string(),
});
export type DecisionView = z.infer<typeof DecisionView>;

/** A value that was found, by its number; or a text that the user selected. */
const About = z.union([
  z.strictObject({ kind: count }),
  z.strictObject({ text: value, partial: z.boolean().default(false) }),
]);

export const ListedVerdict = z.object({
  sessionId: id,
  /** null: not looked at yet. */
  verdict: CleanVerdict.nullable(),
  /** It is that of an earlier state. */
  stale: z.boolean(),
});
export type ListedVerdict = z.infer<typeof ListedVerdict>;

export const VerdictFilter = z.enum(['pass', 'review', 'blocked', 'unknown']);
export type VerdictFilter = z.infer<typeof VerdictFilter>;

export const CLEAN_CALLS = {
  /** Of sessions that are on screen; what is not known yet is looked at afterwards, one at a time. */
  'clean.verdicts': {
    input: z.strictObject({ ids: z.array(id).max(200) }),
    output: z.object({ verdicts: z.array(ListedVerdict).max(200) }),
  },
  'clean.list': {
    input: z.strictObject({
      verdict: VerdictFilter.optional(),
      offset: z.number().int().min(0).max(10_000_000).default(0),
    }),
    output: z.object({
      total: count,
      /** Of the user's sessions. */
      counts: z.object({ pass: count, review: count, blocked: count, unknown: count }),
      sessions: z.array(z.object({ session: Session, summary: CleanSummary.nullable() })).max(CLEAN_LIST),
      /** Sessions that wait to be looked at in the background, and how far the one is that is looked at now. */
      checking: z.object({ left: count, sessionId: z.string().nullable() }),
    }),
  },
  /** Looks at all the user's sessions that have no verdict, in the background. */
  'clean.checkAll': { input: nothing, output: z.object({ left: count }) },
  'clean.stopChecks': { input: nothing, output: nothing },
  /** Looks at a session unless it was looked at as it is. */
  'clean.open': { input: z.strictObject({ id }), output: CleanState },
  'clean.state': { input: z.strictObject({ id }), output: CleanState },
  'clean.cancel': { input: z.strictObject({ id }), output: nothing },
  'clean.records': {
    input: z.strictObject({
      id,
      only: z.enum(['all', 'found']).default('found'),
      /** Records with this value. */
      kind: count.optional(),
      offset: z.number().int().min(0).max(10_000_000).default(0),
    }),
    output: z.object({
      total: count,
      version: z.string(),
      records: z.array(CleanRecord).max(CLEAN_PAGE),
      /** Of their places. */
      kinds: z.array(CleanKind),
    }),
  },
  /** One record with all its fields and longer texts. */
  'clean.record': {
    input: z.strictObject({ id, record: count }),
    output: z.object({ version: z.string(), record: CleanRecord, kinds: z.array(CleanKind) }),
  },
  'clean.decisions': {
    /** Absent: those for all sessions. */
    input: z.strictObject({ id: id.optional() }),
    output: z.object({ decisions: z.array(DecisionView).max(2000) }),
  },
  'clean.decide': {
    input: z.discriminatedUnion('do', [
      z.strictObject({ id, do: z.literal('keep'), kind: count }),
      z.strictObject({ id, do: z.literal('redact'), about: About }),
      z.strictObject({ id, do: z.literal('redactKind'), family: z.string().min(1).max(80) }),
      z.strictObject({ id, do: z.literal('always'), as: z.enum(['keep', 'redact']), about: About, name }),
      /** `version`: of the look that was on screen. */
      z.strictObject({ id, do: z.literal('looked'), version: z.string().max(100) }),
    ]),
    output: z.object({ decision: id }),
  },
  'clean.addRule': {
    input: z.strictObject({ do: z.enum(['redact', 'pattern', 'deny', 'keep']), name, value }),
    output: z.object({ decision: id }),
  },
  'clean.undo': { input: z.strictObject({ id }), output: nothing },
  /** All decisions of a session (absent: all for all sessions), also such that cannot be read any more. */
  'clean.forget': { input: z.strictObject({ id: id.optional() }), output: z.object({ forgotten: count }) },
} as const;
