import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { stateSha } from '../../main/envs/file-history.js';
import { findReport, findWork } from '../../main/envs/find.js';
import { readPiSession } from '../../main/envs/pi-session.js';
import type { SessionEvent } from '../../main/envs/session-events.js';
import { describeShared } from '../support/shared.js';
import { bash, edit, read, session, temporaryFolder, user, write } from './support.js';

const SOURCE = 'def one():\n    return 2\n';
const FIXED = 'def one():\n    return 1\n';
const TEST = 'from a import one\n\n\ndef test_one():\n    assert one() == 1\n';
const fail = bash('pytest -q', 1, '1 failed in 0.01s');
const pass = bash('pytest -q', 0, '1 passed in 0.01s');
const reads = [read('a.py', SOURCE), read('test_a.py', TEST)];
const fix = edit('a.py', 'return 2', 'return 1');

const kinds = (...events: SessionEvent[]) =>
  findWork([session(...events)]).works.map(({ candidate }) => candidate.kind);
const reasons = (...events: SessionEvent[]) => findWork([session(...events)]).drops.map(({ reason }) => reason);

describe('findWork: repair', () => {
  it('takes a failing check, an edit and the same check passing, with the true states', () => {
    const result = findReport(findWork([session(user(), fail, ...reads, fix, bash('cd /home/dev/proj && pytest -q'))]));
    expect(result.drops).toEqual([]);
    expect(result.candidates).toEqual([
      {
        kind: 'repair',
        request_index: 1,
        check: 'pytest -q',
        cwd: '.',
        start_sha: stateSha({ 'a.py': SOURCE, 'test_a.py': TEST }),
        oracle_sha: stateSha({ 'a.py': FIXED, 'test_a.py': TEST }),
        files: ['a.py'],
        session: 0,
      },
    ]);
  });

  it('follows exact shell writes: here-documents, mv, rm', () => {
    const heredoc = bash(`cat > a.py <<'PY'\n${FIXED}PY`);
    expect(kinds(user(), fail, ...reads, heredoc, pass)).toEqual(['repair']);
    const { works } = findWork([session(user(), write('b.py', FIXED), fail, ...reads, bash('mv b.py a.py'), pass)]);
    expect(works[0]!.oracle).toEqual({ 'a.py': FIXED, 'test_a.py': TEST });
    expect(works[0]!.candidate.files).toEqual(['a.py', 'b.py']);
  });

  it.each<[string, SessionEvent[], string]>([
    ['an install between', [fail, ...reads, bash('pip install x'), fix, pass], 'repair:install_between'],
    ['an edited test', [fail, ...reads, edit('test_a.py', '== 1', '== 2'), pass], 'repair:test_edited'],
    ['edited settings', [fail, ...reads, fix, write('pytest.ini', '[pytest]\n'), pass], 'repair:config_edited'],
    ['no edit', [fail, ...reads, pass], 'repair:no_edit_between'],
    ['another command', [fail, ...reads, fix, bash('ruff check .')], 'repair:different_command'],
    ['no passing run', [fail, ...reads, fix, fail], 'repair:never_passed'],
    ['a masked exit code', [bash('pytest -q | tail -1'), ...reads, fix], 'repair:masked_exit'],
    [
      'an unresolved shell write',
      [...reads, fail, bash("python3 -c \"open('a.py','w').write('x')\""), pass],
      'replay:shell_write',
    ],
    ['an edit of a file never seen', [read('test_a.py', TEST), fail, fix, pass], 'replay:unknown_files'],
    ['tests never seen', [read('a.py', SOURCE), fail, fix, pass], 'replay:unknown_files'],
    [
      'a read of a part only',
      [read('test_a.py', TEST), read('a.py', `${SOURCE}\n[12 more lines in file. Use offset=3]`), fail, fix, pass],
      'replay:unknown_files',
    ],
    [
      'a blocked call',
      [{ kind: 'text', text: '[tackroom] blocked call to `bash`: no' }, fail, ...reads, fix, pass],
      'screen:blocked',
    ],
    ['a written reward', [fail, ...reads, fix, bash('echo 1 > /logs/verifier/reward.txt'), pass], 'screen:tampering'],
  ])('drops %s', (_, events, reason) => {
    expect(kinds(user(), ...events)).toEqual([]);
    expect(reasons(user(), ...events)).toContain(reason);
  });

  it('reads the verdict of a masked check from the runner itself', () => {
    const piped = (code: number, text: string) => bash('pytest -q | tail -3', code, text);
    expect(kinds(user(), piped(0, '1 failed in 0.01s'), ...reads, fix, piped(0, '1 passed in 0.01s'))).toEqual([
      'repair',
    ]);
  });

  it('leaves out a session that holds a credential, unless its sanitized copy is used', () => {
    const token = `ghp_${'aB3dE5gH7jK9'.repeat(3)}`;
    const trace = session(user(), fail, ...reads, bash('env', 0, `GH=${token}`), fix, pass);
    expect(findWork([trace]).drops).toEqual([{ stage: 'screen', reason: 'screen:secret' }]);
    expect(findWork([trace], { secrets: false }).works).toHaveLength(1);
  });

  it('counts the second of two equal sessions as a duplicate', () => {
    const events = [user(), fail, ...reads, fix, pass];
    const { works, drops } = findWork([session(...events), session(...events)]);
    expect([works.length, drops.map(({ reason }) => reason)]).toEqual([1, ['intake:dedup']]);
  });
});

describe('findWork: build and extend', () => {
  const made = [write('a.py', FIXED), write('b.py', 'x = 1\n'), bash('python3 a.py')];
  it('takes a program made in the first request and changed in a later one', () => {
    expect(kinds(user(), ...made)).toEqual(['build']);
    expect(kinds(user(), ...made, user('more'), edit('b.py', '1', '2'), bash('python3 b.py'))).toEqual([
      'build',
      'extend',
    ]);
  });
  it('drops what is too small or does not pass', () => {
    expect(reasons(user(), write('a.py', FIXED), bash('python3 a.py'))).toContain('build:too_few_files');
    expect(reasons(user(), write('a.py', ''), write('b.py', ''), bash('python3 a.py', 1))).toContain(
      'build:check_failed',
    );
    expect(reasons(user(), write('a.py', ''), write('b.py', ''))).toContain('build:no_check');
  });
});

describeShared('the labelled sessions of pi', (shared) => {
  const dir = temporaryFolder();
  it('are answered as before or better', async () => {
    mkdirSync(join(dir, 'tasks'));
    const archive = join(shared, 'corpus', 'tasks.tar.gz');
    await promisify(execFile)('tar', ['xzf', archive, '--exclude=*/trees/*', '-C', join(dir, 'tasks')]);
    const counts = { right: 0, missed: 0, extra: 0, wrongState: 0, cases: 0 };
    const base = join(dir, 'tasks', 'corpus', 'shared');
    for (const name of readdirSync(base).filter((entry) => existsSync(join(base, entry, 'expected.json')))) {
      const expected = JSON.parse(readFileSync(join(base, name, 'expected.json'), 'utf8')) as Expected;
      if (!expected.formats.every((format) => format.startsWith('pi'))) continue;
      counts.cases++;
      const traces = expected.sessions.map((path) => readPiSession(readFileSync(join(base, name, path), 'utf8')));
      const found = findReport(findWork(traces)).candidates.filter(({ kind }) => kind === 'repair');
      const wanted = expected.candidates.filter(({ kind }) => kind === 'repair');
      for (const label of wanted) {
        const same = found.filter(({ check, cwd }) => check === label.check && cwd === label.cwd);
        const hit = same.find(({ start_sha }) => start_sha === label.start_state_sha) ?? same[0];
        if (!hit) counts.missed += label.optional ? 0 : 1;
        else if (hit.start_sha === label.start_state_sha && hit.oracle_sha === label.oracle_state_sha) counts.right++;
        else counts.wrongState++;
      }
      counts.extra += found.filter(({ check }) => !wanted.some((label) => label.check === check)).length;
    }
    expect(counts.cases).toBeGreaterThanOrEqual(45);
    expect(counts).toMatchObject({ missed: 0, wrongState: 0, extra: 0 });
    expect(counts.right).toBeGreaterThanOrEqual(22);
  }, 120_000);
});

interface Expected {
  formats: string[];
  sessions: string[];
  candidates: {
    kind: string;
    check: string;
    cwd: string;
    start_state_sha: string;
    oracle_state_sha: string;
    optional?: boolean;
  }[];
}
