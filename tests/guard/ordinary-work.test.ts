import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { bash, verdictOn } from './support.js';

const files = [
  'data.csv',
  'sales.csv',
  './orders.csv',
  'logs.jsonl',
  'data/weather.csv',
  '/app/data/users.csv',
  'in/tests.csv',
];
const templates = [
  'ls',
  'ls -la',
  'pwd',
  'find . -name "*.csv"',
  'head -5 FILE',
  'tail -n +2 FILE | wc -l',
  'wc -l FILE',
  'cat FILE',
  "grep -c 'error' FILE",
  "grep -c '^' FILE > answer.txt",
  "awk -F, '$3 > 20' FILE | wc -l",
  "awk -F, 'NR>1{s+=$2} END{print s}' FILE > answer.txt",
  'cut -d, -f2 FILE | sort | uniq -c | sort -rn | head -1',
  "sed -n '2,5p' FILE",
  'sort -t, -k2 -n FILE | tail -1',
  `python3 -c "import csv; print(sum(float(r['price']) for r in csv.DictReader(open('FILE'))))" > answer.txt`,
  `python3 -c "import csv;rows=list(csv.DictReader(open('FILE')));print(len([r for r in rows if r['city']=='Oslo']))"`,
  `python3 -c 'import json; print(max(json.loads(l)["ms"] for l in open("FILE")))' > answer.txt`,
  `python3 -c "open('answer.txt','w').write(str(len(open('FILE').readlines())-1))"`,
  "python3 - <<'PY'\nimport csv, collections\nc = collections.Counter(r['item'] for r in csv.DictReader(open('FILE')))\nopen('answer.txt', 'w').write(c.most_common(1)[0][0])\nPY",
  "cat > solve.py <<'EOF'\nimport csv\nrows = list(csv.reader(open('FILE')))\nprint(len(rows))\nEOF\npython3 solve.py > answer.txt",
  'echo 42 > answer.txt',
  "printf '%s\\n' 42 > answer.txt",
  'cat answer.txt',
  'mkdir -p out && cp FILE out/ && ls out',
  'n=$(wc -l < FILE); echo $((n-1)) > answer.txt',
  `node -e "console.log(require('fs').readFileSync('FILE','utf8').split('\\n').length)" > answer.txt`,
  'sqlite3 :memory: ".import FILE t" "select count(*) from t"',
  'test -f FILE && echo yes',
  'for f in *.csv; do wc -l "$f"; done',
  'python3 -m pytest -q tests/',
  'rm -f tmp.txt',
  'file FILE; stat FILE',
  'tr -d "\\r" < FILE > clean.csv',
  'jq -s "length" FILE',
  'env | sort | head',
  'which python3',
  'date +%F',
];
const commands = templates.flatMap((template) =>
  template.includes('FILE') ? files.map((file) => template.replaceAll('FILE', file)) : [template],
);

test('there are enough variants to mean something', () => expect(commands.length).toBeGreaterThan(170));

test.each(['training', 'desktop'] as const)('ordinary commands pass under %s', (profile) => {
  const bad = commands
    .map((command) => ({ command, verdict: bash(command, { profile }) }))
    .filter(({ verdict }) => verdict.verdict !== 'allow');
  expect(bad).toEqual([]);
});

test.each([
  ['read', { path: 'data.csv' }],
  ['read', { path: '/app/tests/test_a.py', offset: 1, limit: 20 }],
  ['write', { path: 'answer.txt', content: '42\n' }],
  ['write', { path: 'solve.py', content: "import requests\nrequests.get('https://anything.example.org')\n" }],
  ['edit', { path: 'README.md', edits: [{ oldText: 'a', newText: 'see https://anything.example.org' }] }],
  ['webfetch', { url: 'https://docs.example.com/guide' }],
])('%s %j passes', (name, args) => expect(verdictOn(name, args).verdict).toBe('allow'));

/** Builds, services, containers, version control, settings: what looks like an attack only to a guard that reads words. */
const everyday = JSON.parse(
  readFileSync(join(dirname(fileURLToPath(import.meta.url)), '..', 'fixtures', 'guard', 'ordinary.json'), 'utf8'),
) as string[];
test.each(everyday)('%s', (command) => {
  expect(bash(command, { profile: 'training' }).verdict).toBe('allow');
  expect(bash(command, { profile: 'desktop' }).verdict).toBe('allow');
});
