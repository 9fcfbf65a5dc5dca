/** `/{tests,logs}/x` and `a{1..3}` as bash spells them out, bounded in number. */
const MAX_WORDS = 32;

/** All words that `word` stands for; itself where there is nothing to expand. */
export function expandBraces(word: string): string[] {
  if (!word.includes('{') || word.length > 2000) return [word];
  let words = [word];
  for (let round = 0; round < 6; round++) {
    const next = words.flatMap(expandOnce);
    if (next.length === words.length || next.length > MAX_WORDS) return words;
    words = next;
  }
  return words;
}

function expandOnce(word: string): string[] {
  const match = /^([\s\S]*?[^$]|)\{([^{}]{1,500})\}([\s\S]*)$/.exec(word);
  if (!match) return [word];
  const [, before = '', body = '', behind = ''] = match;
  const range = /^(\d{1,3})\.\.(\d{1,3})$/.exec(body);
  if (range) {
    const [from, to] = [Number(range[1]), Number(range[2])];
    const count = Math.min(MAX_WORDS, Math.abs(to - from) + 1);
    return Array.from({ length: count }, (_, i) => before + (from + (to < from ? -i : i)) + behind);
  }
  return body.includes(',') ? body.split(',').map((piece) => before + piece + behind) : [word];
}
