/**
 * What nothing can look into, and so goes as a whole: images, sounds and documents in base64, and what servers encrypted to get it
 * back (signatures of reasoning).
 */
import { CONTINUED } from '../pseudonyms.js';
import { AnchorFlag } from '../scan/layout.js';
import { numberOfImage, SHORTEST_IMAGE } from '../stand-in-image.js';
import { type Anchored, type Detector, matchAt, type TextView } from './text-view.js';

const RUN = /[A-Za-z0-9+/]+={0,2}/y;
/** The next line of base64 that is cut into lines, and nothing else on it. */
const NEXT_LINE = /\r?\n([A-Za-z0-9+/]{16,}={0,2})(?=\r?\n|$)/y;
const LAST_LINE = /\r?\n((?=.*[\d=+/A-Z])[A-Za-z0-9+/]{2,15}={0,2})(?=\r?\n|$)/y;
/** RIFF is of WebP and of sounds; which, stands behind its length. */
const WEBP = /^UklGR.{6}XRUJQ/s;
const IMAGE =
  /^(?:iVBORw0KGgo|\/9j\/|R0lGOD[dl]h|Qk[0-9A-Za-z+/]{3}AAAAA|SUkqAA|TU0AK|AAAA.{2}Z0eXB(?:hdmlm|oZWlj|taWYx))/;

/** Icons in a style sheet are part of the code; a picture of a screen is larger. */
const SHORTEST_IN_TEXT = 4096;
const DATA_URL = /^data:[\w.+-]{1,40}\/[\w.+-]{1,60};base64,$/;

/** What was seen of a text, so that lines are read once. */
const seenTo = new WeakMap<TextView, number>();

const file: Detector = (view, at) => {
  const { text, spans } = view;
  if (at < (seenTo.get(view) ?? 0) || isBase64(text.charCodeAt(at - 1))) return;
  const first = matchAt(RUN, text, at)?.[0] ?? '';
  let end = at + first.length;
  const lines: { start: number; end: number }[] = [];
  for (let line = matchAt(NEXT_LINE, text, end); line; line = matchAt(NEXT_LINE, text, end)) {
    end += line[0].length;
    lines.push({ start: end - line[1]!.length, end });
  }
  const last = lines.length > 0 ? matchAt(LAST_LINE, text, end) : null;
  if (last) {
    end += last[0].length;
    lines.push({ start: end - last[1]!.length, end });
  }
  seenTo.set(view, end);
  if (first.startsWith('LS0tLS1')) {
    keyFile(view, at, first, lines);
    return;
  }
  const alone = end === text.length && (at === 0 || (at < 100 && DATA_URL.test(text.slice(0, at))));
  if (end - at < (alone ? SHORTEST_IMAGE : SHORTEST_IN_TEXT)) {
    const ours = numberOfImage(first);
    if (ours !== null) view.reserve('IMAGE', ours);
    return;
  }
  const family = IMAGE.test(first) || WEBP.test(first) ? 'image' : 'attachment';
  spans.push({ start: at, end: at + first.length, family, certainty: 'checksum', value: first });
  for (const line of lines) spans.push({ ...line, family: CONTINUED, certainty: 'checksum', value: '' });
};

/** A private key as `base64 FILE` prints it; certificates stay. One that stands on one line is a run that says something. */
function keyFile({ text, spans }: TextView, at: number, first: string, lines: { start: number; end: number }[]): void {
  const head = Buffer.from(first.slice(0, 88), 'base64').toString('latin1');
  if (lines.length === 0 || !/^-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY/.test(head)) return;
  for (const { start, end } of [{ start: at, end: at + first.length }, ...lines])
    spans.push({ start, end, family: 'private-key', certainty: 'block', value: text.slice(start, end) });
}

const isBase64 = (c: number): boolean =>
  (c >= 48 && c <= 57) || (c >= 65 && c <= 90) || (c >= 97 && c <= 122) || c === 43 || c === 47;

const SIGNATURE =
  /^(?:signature|(?:thinking|thought|text|reasoning)_?signature|encrypted_?(?:content|reasoning)|reasoning_?(?:encrypted|opaque)|redacted_?content)$/i;
const CIPHERTEXT = /^(?=.{0,200}[a-z])(?=.{0,200}[A-Z])(?=.{0,200}\d)[A-Za-z0-9+/_-]{64,}={0,2}$/;
/** pi keeps the id of an answer's part there. */
const MESSAGE_ID = /^(?:msg|rs|fc)_[0-9a-zA-Z]{8,80}$/;
const REDACTED_BLOCK = /"(?:redacted_thinking|reasoning\.encrypted)"/;

/**
 * A field that holds what a server encrypted. Nothing stands for it: programs leave an empty signature out, and another one would
 * be refused.
 */
export function signatureField(view: TextView): boolean {
  const { key, text, spans } = view;
  if (key.length > 24) return false;
  const named = SIGNATURE.test(key);
  if (named && MESSAGE_ID.test(text)) return true;
  if ((!named && key !== 'data') || !CIPHERTEXT.test(text)) return false;
  if (!named && !REDACTED_BLOCK.test(view.around())) return false;
  spans.push({ start: 0, end: text.length, family: 'signature', certainty: 'checksum', value: text });
  return true;
}

export const OPAQUE: Anchored[] = [
  {
    anchors:
      'iVBORw0KGgo /9j/ R0lGODlh R0lGODdh UklGR SUkqAA TU0AK AAAAGGZ0eX AAAAHGZ0eX AAAAIGZ0eX AAAAFGZ0eX LS0tLS1CRUdJTi JVBERi0 UEsDBB SUQz T2dnUw ZkxhQ GkXfo',
    flags: AnchorFlag.exactCase | AnchorFlag.start,
    detector: file,
  },
  // Names of fields; those with "signature" are names of secrets already.
  {
    anchors: 'encrypted redacted_content redactedcontent reasoning_opaque data',
    flags: AnchorFlag.personKey,
    detector: () => {},
  },
];
