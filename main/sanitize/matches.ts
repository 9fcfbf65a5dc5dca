/**
 * Every match of a global (or sticky) regex. Unlike `matchAll` it does not clone the regex, so that V8 keeps its compiled
 * code from call to call: short texts are scanned several times faster.
 */
export function matchesOf(regex: RegExp, text: string): RegExpExecArray[] {
  const out: RegExpExecArray[] = [];
  regex.lastIndex = 0;
  for (let match = regex.exec(text); match; match = regex.exec(text)) {
    out.push(match);
    if (match[0] === '') regex.lastIndex++;
  }
  return out;
}
