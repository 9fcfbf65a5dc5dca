/** Text of others on the screen: what would hide or turn it around is shown by its code. */

/** Control characters, and those that set the direction of writing or break a line unseen. */
const UNSEEN = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

const escaped = (char: string): string => {
  const code = char.charCodeAt(0).toString(16);
  return code.length <= 2 ? `\\x${code.padStart(2, '0')}` : `\\u${code.padStart(4, '0')}`;
};

/** Of several lines: breaks and tabs stay. */
export const visibleText = (text: string): string =>
  text.replace(UNSEEN, (char) => (char === '\n' || char === '\t' ? char : escaped(char)));

/** Of one line, such as a name. */
export const visibleLine = (text: string): string => text.replace(UNSEEN, escaped);
