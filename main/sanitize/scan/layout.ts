/**
 * What a scan reports, in flat arrays: the TypeScript body (scanner.ts) and the native one (native/src/scan) write the same
 * numbers. Positions are bytes.
 */

/** Fields of one leaf, `FIELDS` numbers each. A leaf is a decoded string, a piece of plain text, or another view of one. */
export const FIELDS = 16;
export const Leaf = {
  /** Index of the leaf whose positions this one's map to; -1: positions of the input. */
  parent: 0,
  /** 0: the text lies in the input; 1: in the arena. */
  source: 1,
  start: 2,
  length: 3,
  /** First breakpoint and number of breakpoints; without any, parent position = position + shift. */
  mapStart: 4,
  mapCount: 5,
  shift: 6,
  /** Above 0: every position stands for the whole run of this length at `shift` of the parent (base64, hex). */
  whole: 7,
  keyStart: 8,
  keyLength: 9,
  /** Findings that begin outside are another window's. */
  ownFrom: 10,
  ownTo: 11,
  firstCandidate: 12,
  candidates: 13,
  /** What has been undone to see this text, `View` bits. */
  views: 14,
  /** `View` bits of the views that stand beside this one. */
  seenAs: 15,
} as const;

export const View = {
  json: 1,
  /** Terminal sequences and invisible characters taken out. */
  clean: 2,
  /** Backslash escapes read. */
  unescaped: 4,
  percent: 8,
  entities: 16,
  encoded: 32,
} as const;

/** What is known of a string that has a number. */
export const StringState = {
  unknown: 0,
  nothing: 1,
  /** By whoever reads the leaves: they are not told again. */
  known: 2,
  /** It is read every time. */
  everyTime: 3,
} as const;
/** Numbers for each string that was seen: its own, where it stands, its first leaf and the one after its last. */
export const SEEN = 4;

/** Breakpoint: from `position` on, parent position = parent + (p - position); what stood before it ended at `gap`. */
export const BREAKPOINT = 3;
/** Candidate: position in the leaf's text, anchor. */
export const CANDIDATE = 2;

/** Anchors that no literal stands for. */
export const Probe = {
  keyValue: 0,
  keyPerson: 1,
  known: 2,
  ipv4: 3,
  ipv6: 4,
  mac: 5,
  phone: 6,
  digits: 7,
  iban: 8,
  hexTriple: 9,
} as const;
export const FIRST_LITERAL = 16;

export const Limits = {
  /** Strings that are longer are looked at in windows, and as text only. */
  window: 4 << 20,
  /** What two windows share; nothing that is found is longer than half of it. */
  overlap: 128 << 10,
  nesting: 4,
  /** Views upon views. */
  views: 3,
  /** Longer texts are seen in each view, not in views of views: these would take many times their size. */
  longText: 256 << 10,
  jsonDepth: 512,
  /** The arrays are handed over when the arena has grown beyond this. */
  arena: 4 << 20,
  encodedMin: 20,
  encodedMax: 1 << 20,
} as const;

export const AnchorFlag = {
  /** The byte before must not be a letter or digit. */
  start: 1,
  exactCase: 2,
  /** A word of names of secrets: counts in text, and makes a JSON key one that has a secret for its value. */
  secretKey: 4,
  /** Counts in JSON keys only: names of fields that hold personal data. */
  personKey: 8,
} as const;

export interface Tables {
  /** Byte (letters folded) -> column. */
  classes: Uint8Array;
  columns: number;
  /** state * columns + column -> state. */
  next: Uint16Array;
  /** State -> first entry in `outputs`; one more than there are states. */
  outputStart: Int32Array;
  /** Indices of anchors that end here. */
  outputs: Int32Array;
  lengths: Uint8Array;
  flags: Uint8Array;
  /** The anchors one after the other, and where each begins. */
  literals: Uint8Array;
  literalStart: Int32Array;
}

export interface ScanResult {
  leaves: Int32Array;
  leafCount: number;
  candidates: Int32Array;
  maps: Int32Array;
  arena: Uint8Array;
  /** Strings of JSON lines that have leaves or are known, in order, where the scanner numbers them; leaves of others belong to none. */
  seen?: Int32Array;
  seenCount?: number;
}

export interface ByteScanner {
  /**
   * Scans `input[from..to)`: whole lines, JSON or not. `sink` is called whenever there is enough and at the end; the arrays are
   * valid until it returns.
   */
  scan(input: Uint8Array, from: number, to: number, sink: (result: ScanResult) => void): void;
  /**
   * The strings of JSON lines are numbered from now on, the same under the same key alike, below the length of `states`, which keeps what is
   * known of each (StringState) and is changed too. Absent: this scanner numbers none.
   */
  remember?(states: Uint8Array | null): void;
  /** Gives its memory back; it is of no use afterwards. */
  close(): void;
}
