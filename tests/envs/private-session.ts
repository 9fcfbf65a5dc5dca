/** A repair session full of private values, with output that the real programs printed, in the forms of three harnesses. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { invented, inventedTokens } from '../sanitize/support.js';

export interface Private {
  user: string;
  host: string;
  token: string;
  home: string;
}
export const makePrivate = (seed: string): Private => {
  const user = `m${invented(`${seed}user`, 8, 'abcdefghijklmnopqrstuvwxyz')}`;
  const host = `ws-${invented(`${seed}host`, 6, 'abcdefghijklmnopqrstuvwxyz')}-17`;
  return { user, host, token: inventedTokens(seed)['github-pat']!, home: `/home/${user}` };
};
/** What must be nowhere in a task; a token in parts, too. */
export const privateParts = ({ user, host, token }: Private): string[] => [
  user,
  host,
  ...Array.from({ length: token.length - 7 }, (_, at) => token.slice(at, at + 8)),
];

export interface Step {
  tool: 'bash' | 'write' | 'edit';
  args: Record<string, string>;
  output: string;
  code: number;
}
export interface Script {
  cwd: string;
  ask: string;
  steps: Step[];
}

const FAULT = 'return f"https://{OWNER}:{API_TOKEN}@{HOST}{HOME}{name}.git"';
const FIX = 'return f"https://{OWNER}:{API_TOKEN}@{HOST}{HOME}/{name}.git"';

function projectOf({ user, host, token, home }: Private): Record<string, string> {
  return {
    'config.py': `"""Where ${user} deploys to."""\nHOME = "${home}/deploy"\nOWNER = "${user}"\nHOST = "${host}"\nAPI_TOKEN = "${token}"\n`,
    'release.py': `from config import API_TOKEN, HOME, HOST, OWNER\n\n\ndef target(name):\n    """scp goes to ${user}@${host}:${home}/deploy/NAME."""\n    return f"{OWNER}@{HOST}:{HOME}/{name}"\n\n\ndef remote(name):\n    ${FAULT}\n\n\ndef header():\n    return {"Authorization": "Bearer " + API_TOKEN}\n`,
    'test_release.py': `import os
import unittest

from release import header, remote, target


class ReleaseTest(unittest.TestCase):
    maxDiff = None

    def test_target(self):
        self.assertEqual(target("app"), "${user}@${host}:${home}/deploy/app")

    def test_remote(self):
        self.assertEqual(remote("app"), "https://${user}:${token}@${host}${home}/deploy/app.git")

    def test_header(self):
        self.assertEqual(header()["Authorization"], "Bearer ${token}")

    def test_environment(self):
        self.assertEqual(os.environ["DEPLOY_TOKEN"], "${token}")
        self.assertIn(os.environ["DEPLOY_HOST"] + ":${home}/deploy", target("app"))
`,
  };
}

/** Runs the session for real; paths of the folder it ran in become those of the invented home. */
export function recordScript(who: Private): Script {
  const { user, host, token, home } = who;
  const real = mkdtempSync(join(tmpdir(), 'tackroom-private-'));
  const cwd = `${home}/deploy`;
  const run = (line: string): Step => {
    const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-c', line.replaceAll(cwd, real)], {
      cwd: real,
      encoding: 'utf8',
      env: { PATH: process.env.PATH },
    });
    return {
      tool: 'bash',
      args: { command: line },
      output: `${stdout}${stderr}`.replaceAll(real, cwd),
      code: status ?? 1,
    };
  };
  try {
    mkdirSync(real, { recursive: true });
    const files = projectOf(who);
    for (const [name, content] of Object.entries(files)) writeFileSync(join(real, name), content);
    const check = `cd ${cwd} && DEPLOY_HOST=${host} DEPLOY_TOKEN=${token} python3 -m unittest -q`;
    const look = Object.keys(files).map((name) => run(`cat ${cwd}/${name}`));
    const failed = run(check);
    writeFileSync(join(real, 'release.py'), files['release.py']!.replace(FAULT, FIX));
    rmSync(join(real, '__pycache__'), { recursive: true, force: true });
    const steps: Step[] = [
      { tool: 'bash', args: { command: 'whoami; hostname' }, output: `${user}\n${host}\n`, code: 0 },
      failed,
      ...look,
      {
        tool: 'edit',
        args: { path: `${cwd}/release.py`, oldText: FAULT, newText: FIX },
        output: `Successfully replaced 1 block(s) in ${cwd}/release.py.`,
        code: 0,
      },
      run(check),
    ];
    return { cwd, ask: `The deploy on ${host} goes to the wrong folder. Run the tests and repair it.`, steps };
  } finally {
    rmSync(real, { recursive: true, force: true });
  }
}

const at = (n: number): string => new Date(Date.UTC(2026, 10, 30, 9, 0, n)).toISOString();
const jsonl = (lines: readonly object[]): string => `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;

export function asPi({ cwd, ask, steps }: Script): string {
  let last: string | null = null;
  let n = 0;
  const message = (body: object): object => {
    const line = { type: 'message', id: `e${++n}`, parentId: last, timestamp: at(n), message: body };
    last = line.id;
    return line;
  };
  return jsonl([
    { type: 'session', version: 3, id: 'private-pi', timestamp: at(0), cwd },
    message({ role: 'user', content: [{ type: 'text', text: ask }] }),
    ...steps.flatMap(({ tool, args, output, code }, i) => {
      const { oldText, newText, ...rest } = args;
      const given = tool === 'edit' ? { ...rest, edits: [{ oldText, newText }] } : args;
      const text = code === 0 ? output : `${output}\n\nCommand exited with code ${code}`;
      return [
        message({
          role: 'assistant',
          content: [{ type: 'toolCall', id: `c${i}`, name: tool, arguments: given }],
          stopReason: 'toolUse',
        }),
        message({
          role: 'toolResult',
          toolCallId: `c${i}`,
          toolName: tool,
          content: [{ type: 'text', text }],
          isError: code !== 0,
        }),
      ];
    }),
  ]);
}

export function asClaudeCode({ cwd, ask, steps }: Script): string {
  let last: string | null = null;
  let n = 0;
  const line = (more: object): object => {
    const uuid = `u${++n}`;
    const entry = {
      uuid,
      parentUuid: last,
      sessionId: 'private-claude',
      timestamp: at(n),
      cwd,
      version: '2.1.0',
      isSidechain: false,
      ...more,
    };
    last = uuid;
    return entry;
  };
  return jsonl([
    line({ type: 'user', message: { role: 'user', content: ask } }),
    ...steps.flatMap(({ tool, args, output, code }, i) => {
      const { path, oldText, newText } = args;
      const input = tool === 'edit' ? { file_path: path, old_string: oldText, new_string: newText } : args;
      const name = tool === 'edit' ? 'Edit' : 'Bash';
      const text = code === 0 ? output : `Exit code ${code}\n${output}`;
      return [
        line({
          type: 'assistant',
          message: {
            id: `msg${i}`,
            role: 'assistant',
            model: 'm',
            content: [{ type: 'tool_use', id: `c${i}`, name, input }],
            usage: { input_tokens: 5, output_tokens: 7 },
            stop_reason: null,
          },
        }),
        line({
          type: 'user',
          message: {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: `c${i}`, content: text, is_error: code !== 0 }],
          },
          toolUseResult:
            code === 0 ? { stdout: output, stderr: '', interrupted: false } : `Error: Exit code ${code}\n${output}`,
        }),
      ];
    }),
  ]);
}
