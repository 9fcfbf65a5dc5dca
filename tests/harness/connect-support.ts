/** A home folder of a harness, and the commands that connect and disconnect it. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect } from 'vitest';
import { connectCommand, disconnectCommand, type Looking } from '../../main/harness/connect.js';
import type { ConnectOptions } from '../../main/harness/connect-change.js';
import type { HarnessName } from '../../main/harness/connector.js';

/** Nothing listens there: the test calls of these tests find nobody. */
const CLOSED_PORT = 1;

/** Of a user with settings of their own, by path below the home folder. */
export const EXISTING: Record<HarnessName, Record<string, string>> = {
  pi: {
    '.pi/agent/models.json':
      '{\n    "providers": {\n        "mine": { "baseUrl": "http://localhost:1/v1", "note": "\u00e9\u2713" }\n    }\n}',
    '.pi/agent/settings.json': '{"defaultProvider":"mine","defaultModel":"big","theme":"dark"}\n',
  },
  opencode: {
    '.config/opencode/opencode.jsonc':
      '// mine\n{\n\t"$schema": "https://opencode.ai/config.json",\n\t/* the good one */ "model": "other/big", // keep\n\t"provider": {\n\t\t"other": { "options": { "baseURL": "http://localhost:1/v1" }, },\n\t},\n\t"enabled_providers": [\n\t\t"other", // paid\n\t],\n}\n',
  },
  hermes: {
    '.hermes/config.yaml':
      '# mine\nmodel:\n    # the good one\n    default: "other/big"   # keep\n    provider: openrouter\nagent: {max_turns: 30}\nlist:\n- 1\n- two   # second\nnote: >\n    folded\n    text\n',
  },
};
export const MAIN_FILE: Record<HarnessName, string> = {
  pi: '.pi/agent/settings.json',
  opencode: '.config/opencode/opencode.jsonc',
  hermes: '.hermes/config.yaml',
};

export class Home {
  readonly root = mkdtempSync(join(tmpdir(), 'tackroom-connect-'));
  constructor(readonly harness: HarnessName) {}

  existing(files: Record<string, string> = EXISTING[this.harness]): void {
    for (const [name, text] of Object.entries(files)) this.write(name, text);
  }
  write(name: string, text: string): void {
    mkdirSync(dirname(join(this.root, name)), { recursive: true });
    writeFileSync(join(this.root, name), text);
  }
  read(name: string): string {
    return readFileSync(join(this.root, name), 'utf8');
  }
  /** Every file below the root with its bytes and permissions. */
  snapshot(folders = true): unknown[] {
    return readdirSync(this.root, { recursive: true, encoding: 'utf8' })
      .sort()
      .map((name) => [name, statSync(join(this.root, name))] as const)
      .filter(([, info]) => folders || info.isFile())
      .map(([name, info]) => [
        name,
        info.mode & 0o777,
        info.isFile() ? readFileSync(join(this.root, name), 'latin1') : 'folder',
      ]);
  }
  async connect(more: Partial<ConnectOptions> & Looking = {}): Promise<string> {
    const options = { harness: this.harness, root: this.root, port: CLOSED_PORT, token: 'tok-1', ...more };
    return run((io) => connectCommand(options, io));
  }
  async disconnect(dryRun = false): Promise<string> {
    return run((io) => disconnectCommand({ harness: this.harness, root: this.root, dryRun }, io));
  }
  remove(): void {
    rmSync(this.root, { recursive: true });
  }
}

interface Streams {
  stdout: PassThrough;
  stderr: PassThrough;
}

/** What it printed: stdout, then stderr. */
export async function run(command: (io: Streams) => Promise<number>, code = 0): Promise<string> {
  const io = { stdout: new PassThrough(), stderr: new PassThrough() };
  expect(await command(io)).toBe(code);
  return [io.stdout, io.stderr].map((stream) => (stream.read() as Buffer | null)?.toString() ?? '').join('');
}
