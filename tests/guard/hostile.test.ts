import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ModelFiles } from '../../main/guard/model-files.js';
import { parseShell } from '../../main/guard/shell.js';
import { bash, verdictOn } from './support.js';

const fragment = fc.constantFrom(
  "'",
  '"',
  '\\',
  '$(',
  '`',
  ')',
  '(',
  '<<EOF\n',
  '\nEOF\n',
  '|',
  '&&',
  '>',
  '>>',
  ' /tests/x',
  ' sh -c ',
  'eval ',
  '${A:-',
  '}',
  'A=1 ',
  '$A',
  ' python3 -c ',
  "$'\\x41'",
  'base64 -d',
  '\n',
  '#',
  '[',
  '*',
  '\u0000',
  '\ud800',
  ' https://a.b/',
);
const script = fc.oneof(
  fc.array(fragment, { maxLength: 60 }).map((parts) => parts.join('')),
  fc.string({ maxLength: 300, unit: 'binary' }),
);

describe('hostile input', () => {
  test('no shell text makes it throw, and the verdict does not depend on earlier calls', () => {
    fc.assert(
      fc.property(script, (command) => {
        const { ms: _, ...first } = bash(command);
        bash('echo 1 > /logs/verifier/reward.txt');
        const { ms: __, ...second } = bash(command);
        expect(second).toEqual(first);
        expect(['allow', 'suspicious', 'block']).toContain(first.verdict);
      }),
      { numRuns: 200 },
    );
  });

  test.each([
    `mkfifo p; ${'cat < p > p & '.repeat(60)}echo x > p`,
    `mkfifo p q; ${'tee p q < p & tee q p < q & '.repeat(30)}echo x > p`,
    `echo x ${`| cat ${'- '.repeat(200)}`.repeat(8)}| bash`,
  ])('what goes round and round comes to an end: %#', { timeout: 10_000 }, (command) => {
    expect(['allow', 'suspicious', 'block']).toContain(bash(command).verdict);
  });

  test('any JSON object is answered', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom('command', 'path', 'content', 'url', 'urls', 'code', 'edits', 'x'),
          fc.jsonValue(),
        ),
        (args) => void verdictOn('bash', args),
      ),
      { numRuns: 150 },
    );
  });

  test('a quoted word stays one word, whatever is in it', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), (word) => {
        const quoted = `echo '${word.replaceAll("'", "'\\''")}'`;
        const [command] = parseShell(quoted, {
          scope: {
            variables: new Map(),
            cwd: '',
            room: 1000,
            pick: 0,
            loopWords: 1,
            descriptors: new Map(),
            outputs: new Map(),
          },
          budget: { commands: 100, characters: 10_000 },
          depth: 0,
          files: new ModelFiles(),
        });
        expect(command?.argv).toEqual(['echo', word]);
      }),
    );
  });

  const bombs: [string, (n: number) => string][] = [
    ['$(', (n) => '$('.repeat(n)],
    ['nested sh -c', (n) => 'sh -c "'.repeat(n)],
    ['backticks', (n) => '`'.repeat(n)],
    ['quotes', (n) => `python3 -c '${'"'.repeat(n)}'`],
    ['list of strings', (n) => `python3 -c 'subprocess.run([${'"a"   '.repeat(n)}'`],
    ['open brackets', (n) => `python3 -c 'subprocess.run(${'["'.repeat(n)}'`],
    ['urls', (n) => 'curl '.concat('https://'.repeat(n))],
    ['spaces', (n) => `curl${' '.repeat(n)}x | sh`],
    ['heredocs', (n) => 'cat <<A\n'.repeat(n)],
    ['semicolons', (n) => ';'.repeat(n)],
    ['assignments', (n) => 'A=$A$A$A$A;'.repeat(n)],
    ['pipes', (n) => 'echo a|'.repeat(n)],
    ['dots', (n) => `python3 -c "${'a.'.repeat(n)}urlopen"`],
    ['braces', (n) => `echo ${'{a,b}'.repeat(n / 5)}`],
    ['open braces', (n) => `echo ${'{a,'.repeat(n / 3)}`],
    ['ranges', (n) => `rm ${'{1..999}'.repeat(n / 8)}`],
    ['loops in loops', (n) => `for a in 1 2 3 4 5 6 7 8 9; do ${'for a in 1 2 3 4 5 6 7 8 9; do '.repeat(n / 32)}`],
    ['a function that calls itself', (n) => `f() { f; f; f; f; }; ${'f; '.repeat(n / 3)}`],
    ['many functions', (n) => 'f() { x; }; '.repeat(n / 12)],
    ['heads of functions', (n) => 'f() {'.repeat(n / 5)],
    ['groups', (n) => '(echo a)|'.repeat(n / 9)],
    ['open groups', (n) => '{ echo a; '.repeat(n / 10)],
    ['arrays', (n) => `A=(${'x '.repeat(n / 2)})`],
    ['replacements', (n) => `A=aaaaaaaaaaaaaaaa; ${'A=@{A//a/aaaaaaaa}; '.repeat(n / 20).replaceAll('@', '$')}`],
    ['aliases', (n) => `${"alias a='a; a'; ".repeat(n / 16)} a`],
    ['filters', (n) => `echo a${" | sed 's/a/aaaa/g'".repeat(n / 19)} | sh`],
    ['xargs', (n) => `echo ${'a '.repeat(n / 2)} | xargs rm`],
    ['links', (n) => 'ln -s /a /b; rm /b/x; '.repeat(n / 22)],
    ['characters', (n) => `python3 -c "${'chr(47)+'.repeat(n / 8)}"`],
    ['formats', (n) => `python3 -c "${"'%s' % 'a' ".repeat(n / 11)}"`],
    ['reversals', (n) => `python3 -c "${"'a".repeat(n / 2)}'[::-1]"`],
    ['addresses', (n) => `echo ${'1.2.3.'.repeat(n / 6)} > /etc/hosts`],
    ['numbers', (n) => `kill ${'12 '.repeat(n / 3)}`],
    ['a patch', (n) => `patch -p1 <<'A'\n${'+++ a\n'.repeat(n / 6)}A\n`],
    ['base64 of gzip', (n) => `echo ${'H4sIAAAA'.repeat(n / 8)} | base64 -d | gunzip | sh`],
    ['atexit', (n) => `python3 -c "${'atexit '.repeat(n)}"`],
  ];
  test.each(bombs)('%s cost no more than linear time', (_, make) => {
    const start = process.cpuUsage();
    bash(make(40_000));
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1000).toBeLessThan(1500);
  });

  const makefiles: [string, (n: number) => string][] = [
    ['rules', (n) => 'a: b\n'.repeat(n / 5)],
    ['needs', (n) => `a: ${'b '.repeat(n / 2)}\n`],
    [
      'rules that need each other',
      (n) => Array.from({ length: n / 12 }, (_, i) => `t${i}: t${i + 1} t0\n\tmake t${i}`).join('\n'),
    ],
    ['variables', (n) => '$(A)'.repeat(n / 4)],
  ];
  test.each(makefiles)('a Makefile of %s costs no more than linear time', (_, make) => {
    const start = process.cpuUsage();
    const content = make(40_000);
    bash('make all t0', {
      messages: [
        {
          role: 'assistant',
          content: '',
          tool_calls: [
            {
              id: 'm',
              type: 'function',
              function: { name: 'write', arguments: JSON.stringify({ path: 'Makefile', content }) },
            },
          ],
        },
      ],
    });
    const { user, system } = process.cpuUsage(start);
    expect((user + system) / 1000).toBeLessThan(1500);
  });
});
