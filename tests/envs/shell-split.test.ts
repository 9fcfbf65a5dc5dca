import { describe, expect, it } from 'vitest';
import { splitShell } from '../../main/envs/shell-split.js';

const texts = (line: string) =>
  splitShell(line)?.map(({ words, next }) => [words.map(({ text }) => text).join(' '), next]);

describe('splitShell', () => {
  it('splits lists and pipelines with their operators', () => {
    expect(texts('cd a && pytest -q 2>&1 | tail -5; echo done')).toEqual([
      ['cd a', '&&'],
      ['pytest -q', '|'],
      ['tail -5', ';'],
      ['echo done', ''],
    ]);
  });

  it('keeps quoted operators, joins quoted parts and marks what the shell would expand', () => {
    const [command] = splitShell(`printf 'a && b' "c $X" d\\ e f*`)!;
    expect(command!.words.map(({ text, literal }) => [text, literal])).toEqual([
      ['printf', true],
      ['a && b', true],
      ['c $X', false],
      ['d e', true],
      ['f*', false],
    ]);
  });

  it('reads here-documents, exact only when the delimiter is quoted', () => {
    const [quoted, next] = splitShell("cat > a.txt <<'X'\n$one\nX\necho hi")!;
    expect(
      quoted!.redirects.map(({ operator, target, body }) => [operator, target.text, target.literal, body]),
    ).toEqual([
      ['>', 'a.txt', true, undefined],
      ['<<', 'X', true, '$one\n'],
    ]);
    expect(next!.words.map(({ text }) => text)).toEqual(['echo', 'hi']);
    expect(splitShell('cat <<X\n$one\nX')![0]!.redirects[0]!.target.literal).toBe(false);
  });

  it.each([
    'for f in *; do rm $f; done',
    '(cd a; ls)',
    'echo $(date)',
    "echo 'open",
    'cat <<X\nno end',
    'a &&',
    'if true; then ls; fi',
  ])('gives null for %s', (line) => expect(splitShell(line)).toBeNull());
});
