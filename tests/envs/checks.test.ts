import { describe, expect, it } from 'vitest';
import { findCheck } from '../../main/envs/check-command.js';
import { failedAlike, failingIds, passedSummary } from '../../main/envs/check-output.js';
import { checkVerdict } from '../../main/envs/check-verdict.js';
import { applyEdits } from '../../main/envs/file-tools.js';
import { shellEffects } from '../../main/envs/shell-effects.js';

describe('findCheck', () => {
  it.each<[string, string, string, boolean]>([
    ['pytest -q', 'pytest -q', '/w', false],
    ['cd sub && CI=1 timeout 60 python3 -m unittest -q 2>&1', 'python3 -m unittest -q', '/w/sub', false],
    ['set -o pipefail; npm test | tail -3', 'npm test', '/w', false],
    ['npm test | tail -3', 'npm test', '/w', true],
    ['make build && make test', 'make test', '/w', true],
    ['pytest -q || true', 'pytest -q', '/w', true],
    ['pytest -q; echo done', 'pytest -q', '/w', true],
    ['npx tsc --noEmit', 'npx tsc --noEmit', '/w', false],
    ['node --test test/', 'node --test test/', '/w', false],
    ['source .venv/bin/activate && ctest', 'ctest', '/w', false],
    ['for i in 1 2; do pytest -q; done', 'pytest -q', '/w', true],
  ])('reads %s', (line, command, cwd, masked) => {
    expect(findCheck(line, '/w')).toMatchObject({ command, cwd, masked });
  });
  it.each(['ls', 'cat pytest.ini', 'echo pytest', 'grep -r test .', 'python3 -c "1"', ''])('finds none in %s', (line) =>
    expect(findCheck(line, '/w')).toBeNull(),
  );
});

describe('checkVerdict', () => {
  const check = (masked: boolean) => ({ ...findCheck('pytest', '/w')!, masked });
  const call = (output: string | null, isError = false) => ({
    kind: 'call' as const,
    name: 'bash',
    arguments: {},
    output,
    isError,
  });
  it('trusts an unmasked exit code and nothing else than the summary of a masked one', () => {
    expect(checkVerdict(check(false), call('x\n\nCommand exited with code 2', true))).toEqual({
      result: 'fail',
      code: 2,
    });
    expect(checkVerdict(check(false), call('2 failed'))).toEqual({ result: 'pass', code: 0 });
    expect(checkVerdict(check(true), call('1 failed, 3 passed in 0.1s'))).toEqual({ result: 'fail', code: null });
    expect(checkVerdict(check(true), call('4 passed in 0.1s')).result).toBe('pass');
    expect(checkVerdict(check(true), call('nothing')).result).toBe('unknown');
  });
  it('does not know how an interrupted run would have ended', () => {
    for (const output of ['Command timed out after 5 seconds', 'Command aborted', null])
      expect(checkVerdict(check(false), call(output, true)).result).toBe('unknown');
  });
});

describe('failedAlike', () => {
  it('names failing tests the same in two Python versions', () => {
    const old = 'FAIL: test_a (test_x.Case)\n';
    const now = 'FAIL: test_a (test_x.Case.test_a)\n';
    expect(failingIds(old)).toEqual(failingIds(now));
    expect(failedAlike({ code: 1, output: old }, { code: 1, output: now })).toBe(true);
  });
  it('refuses another exit code, other tests, and a pass', () => {
    const output = 'FAILED t.py::test_a - x\n';
    expect(failedAlike({ code: 1, output }, { code: 2, output })).toBe(false);
    expect(failedAlike({ code: 1, output }, { code: 1, output: 'FAILED t.py::test_b - x\n' })).toBe(false);
    expect(failedAlike({ code: null, output }, { code: 0, output })).toBe(false);
  });
  it('counts what passed', () => {
    expect(passedSummary('Ran 5 tests in 0.1s\n\nOK\n')?.count).toBe(5);
    expect(passedSummary('3 passed, 1 skipped in 0.1s')?.count).toBe(3);
    expect(passedSummary('fine')).toBeNull();
  });
});

describe('applyEdits', () => {
  it('needs every old text exactly once, matched against the original', () => {
    const one = (before: string, after: string, all = false) => ({ before, after, all });
    expect(applyEdits('a b', [one('a', 'b'), one('b', 'c')])).toBe('b c');
    expect(applyEdits('a a', [one('a', 'b')])).toBeNull();
    expect(applyEdits('a a', [one('a', '$&', true)])).toBe('$& $&');
    expect(applyEdits('a', [one('x', 'y')])).toBeNull();
    expect(applyEdits('a', [one('', 'y')])).toBeNull();
    expect(applyEdits('abc', [one('ab', 'x'), one('bc', 'y')])).toBeNull();
  });
});

describe('shellEffects', () => {
  it.each<[string, object[]]>([
    ['ls -la; grep x y > /dev/null 2>&1', []],
    ["tee -a log <<'E'\nx\nE", [{ kind: 'write', path: '/w/log', content: 'x\n', append: true }]],
    ['echo hi > sub/a', [{ kind: 'write', path: '/w/sub/a', content: 'hi\n', append: false }]],
    ['date > a', [{ kind: 'spoil', path: '/w/a' }]],
    [
      'sed -i s/a/b/ x.py y.py',
      [
        { kind: 'spoil', path: '/w/x.py' },
        { kind: 'spoil', path: '/w/y.py' },
      ],
    ],
    ['cd d && cp a b', [{ kind: 'copy', path: '/w/d/a', to: '/w/d/b' }]],
    ['rm -rf $DIR', [{ kind: 'spoil-all' }]],
    ['git status', []],
    ['git checkout -- .', [{ kind: 'spoil-all' }]],
    ['find . -name x -delete', [{ kind: 'spoil-all' }]],
    ['eslint --fix .', [{ kind: 'spoil-all' }]],
    ['python3 tool.py x', [{ kind: 'script', path: '/w/tool.py' }]],
    ['for f in *; do rm $f; done', [{ kind: 'spoil-all' }]],
  ])('%s', (line, effects) => expect(shellEffects(line, '/w')).toEqual(effects));
});
