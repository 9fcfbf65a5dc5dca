/** Whether a value beside a secret-like key is a secret, or code, a reference, a count or a placeholder. */

const REFERENCE =
  /^(?:\?|\$(?!\w{4,}\W*\d)|\{\{|<|%[A-Za-z_(]|process\.env|os\.environ|os\.getenv|env\.|var\.|data\.|secrets?[.[]|vars\.|config\.|self\.|this\.|settings\.|import\.meta|arn:|vault:|op:\/\/|ref\+|sha\d+[-:]|file:|https?:\/\/|\.{0,2}\/|~\/|@|#|!!?|\*|&)/;
const PLACEHOLDER =
  /x{4,}|X{4,}|\*{3}|\.{3}|…|EXAMPLE|example|your[-_ ]|<[^>]{0,40}>|change[-_]?me|placeholder|redacted|REDACTED|REMOVED|dummy|foobar|insert[-_]|replace[-_]?me|to[-_]?do|not[-_]?set|\bnull\b|undefined|hunter2|abc123|^test|^fake|^mock|wrong|s3cr3t-?here|^(.)\1+$|^0+$|^1234/i;
/** Placeholders are short; longer values are judged by their beginning. */
const HEAD = 300;
const TYPE_OR_WORD =
  /^(?:string|number|boolean|bool|int|str|bytes|float|any|unknown|void|object|none|null|nil|true|false|undefined|optional|required|bearer|basic|hidden|default|public|private|yes|no|on|off|auto)\b[\s\S]{0,40}$/i;

const counts = new Uint16Array(256);

/** Shannon entropy, bits a character, of the first characters. */
export function entropy(text: string): number {
  const length = Math.min(text.length, 2000);
  counts.fill(0);
  for (let i = 0; i < length; i++) counts[text.charCodeAt(i) & 255]!++;
  let bits = 0;
  for (let c = 0; c < 256; c++) {
    const n = counts[c]!;
    if (n > 0) bits -= (n / length) * Math.log2(n / length);
  }
  return bits;
}

/** Keys that are public by design. */
const PUBLIC = /^(?:pk\.eyJ|pk_(?:live|test)_|phc_|sb_publishable_|pk-lf-|ca-pub-|G-[A-Z0-9]{8}|UA-\d)/;
const SEGMENT = /^(?:[a-z_$]+(?:[A-Z]+[a-z]*)*\d?|[A-Z][a-z]+(?:[A-Z]+[a-z]*)*\d?|[A-Z_]+|[a-z]+(?:_[a-z]+)*\d?)$/;

/** `form.fields.password.value`: words of code joined by dots. */
function isMember(value: string): boolean {
  const segments = value.split('.');
  return segments.length > 1 && segments.every((segment) => segment.length < 40 && SEGMENT.test(segment));
}

/** Sentences and labels: words of letters with blanks between. */
const isSentence = (value: string): boolean =>
  /\s/.test(value) && value.split(/\s+/).every((word) => /^[A-Za-z\u0080-\u00ff'.,!?;:()-]+$/.test(word));

function cannotBeSecret(value: string): boolean {
  if (value.includes('${') || /[^ -~]/.test(value)) return true;
  return (
    value.length < 4 ||
    REFERENCE.test(value) ||
    PLACEHOLDER.test(value.slice(0, HEAD)) ||
    TYPE_OR_WORD.test(value) ||
    PUBLIC.test(value) ||
    isMember(value) ||
    isSentence(value) ||
    /\.\*|\[\^|^\(|\\[dws]|:\s*$/.test(value) ||
    /[()]/.test(value.slice(-2)) ||
    /^\d{1,9}(?:\.\d+)?$/.test(value)
  );
}

/** For `*_TOKEN`, `*_KEY`, `*SECRET*`: long and mixed. */
export function isTokenValue(value: string): boolean {
  if (value.length < 12 || cannotBeSecret(value) || /\s/.test(value)) return false;
  if (/^[A-Za-z]+$/.test(value)) return value.length >= 28 && entropy(value) > 4;
  if (/^[a-z]+(?:[-_.:/][a-z]+)*[-_:]?\d{0,3}$/i.test(value) || /^v?\d+(?:\.\d+)+/.test(value)) return false;
  return entropy(value) >= (/^[\da-f-]+$/i.test(value) ? 2.6 : 3);
}

/** Letters of other scripts, as bytes of UTF-8. */
const OTHER_LETTERS = /[\x80-\xff]+/g;

/** For passwords in configuration: short and weak ones too. `loose`: source code, where only strong ones count. */
export function isPasswordValue(value: string, loose: boolean): boolean {
  const plain = value.replace(OTHER_LETTERS, '');
  // With letters of other scripts labels are many, passwords few.
  if (plain.length < value.length)
    return /^(?=.*\d)(?=.*[A-Za-z])[!-~]{6,}$/.test(plain) && !/\s/.test(value) && isPasswordValue(plain, false);
  if (value.length < 6 || cannotBeSecret(value)) return false;
  const mixed = /\d/.test(value) && /[A-Za-z]/.test(value);
  if (/^[A-Za-z_-]+$/.test(value))
    return loose && value.length >= 12 && entropy(value) > 3.3 && !/[_-]/.test(value) && /[a-z][A-Z]/.test(value);
  return loose ? true : mixed && entropy(value) >= 2.8 && value.length >= 8;
}
