// Collects common lower-case English words from the doc strings, comments and identifiers of a Python standard library
// (PSF-2.0) and prints one per line, alphabetically.
// Usage: node scripts/demo-model/collect-words.mjs /usr/lib/python3.11 > resources/demo-model/words.txt
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const MIN_FILES = 2;
const library = process.argv[2];
if (!library) {
  console.error('Name the folder of a Python standard library.');
  process.exit(2);
}

/** Number of source files each word occurs in. */
const files = new Map();
for (const name of readdirSync(library, { recursive: true, encoding: 'utf8' }).sort()) {
  if (!name.endsWith('.py') || /site-packages|(^|\/)tests?\/|idlelib|lib2to3|encodings/.test(name)) continue;
  const words = new Set(readFileSync(join(library, name), 'utf8').match(/(?<![A-Za-z])[a-z]{4,10}(?![a-z])/g) ?? []);
  for (const word of words) files.set(word, (files.get(word) ?? 0) + 1);
}
const looksEnglish = (word) => /[aeiouy]/.test(word) && !/(.)\1\1/.test(word);
console.log(
  [...files]
    .filter(([word, count]) => count >= MIN_FILES && looksEnglish(word))
    .map(([word]) => word)
    .sort()
    .join('\n'),
);
