/** What stands for images and signatures, where others look at it: a browser decodes the one, pi loads both. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { findPi } from '../../main/harness/find-pi.js';
import { sanitizeBytes } from '../../main/sanitize/sanitize.js';
import { standInImage } from '../../main/sanitize/stand-in-image.js';
import { invented } from '../sanitize/support.js';
import { chromiumPath, launchBrowser, NO_CHROMIUM } from './browser.js';

const MAGIC = { png: 'iVBORw0KGgo', jpeg: '/9j/4AAQ', gif: 'R0lGODlh', webp: 'UklGRiIAAABXRUJQ' };

it('images that stand for others can be decoded', async ({ skip }) => {
  if (!chromiumPath()) skip(NO_CHROMIUM);
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    for (const [type, magic] of Object.entries(MAGIC)) {
      const url = `data:image/${type};base64,${standInImage(magic, 12)}`;
      const size = await page.evaluate(async (address) => {
        const image = await createImageBitmap(await (await fetch(address)).blob());
        return `${image.width} x ${image.height}`;
      }, url);
      expect([type, size]).toEqual([type, '1 x 1']);
    }
  } finally {
    await browser.close();
  }
});

it('pi opens a cleaned session with its image and its thinking', async () => {
  const { root, node } = await findPi();
  const folder = mkdtempSync(join(tmpdir(), 'tackroom-cleaned-'));
  try {
    const cipher = `${invented('signature', 400)}==`;
    const image = `${MAGIC.png}${invented('image', 4000)}`;
    const file = join(folder, 'session.jsonl');
    writeFileSync(file, sanitizeBytes(Buffer.from(sessionOfPi(image, cipher))).bytes);
    const module = join(root, 'node_modules/@earendil-works/pi-coding-agent/dist/core/session-manager.js');
    const program = `const { SessionManager } = await import(${JSON.stringify(pathToFileURL(module).href)});
process.stdout.write(JSON.stringify(SessionManager.open(${JSON.stringify(file)}).buildSessionContext().messages));`;
    const out = execFileSync(node, ['--input-type=module', '-e', program], { encoding: 'utf8', env: { HOME: folder } });
    expect(JSON.parse(out)).toMatchObject([
      { role: 'user', content: [{ text: 'look' }, { type: 'image', data: standInImage(MAGIC.png, 1) }] },
      { role: 'assistant', content: [{ thinking: 'hm', thinkingSignature: '' }, { text: 'ok' }] },
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

function sessionOfPi(image: string, signature: string): string {
  const at = '2026-11-30T09:00:00.000Z';
  const message = (id: string, parentId: string | null, body: object): object => ({
    type: 'message',
    id,
    parentId,
    timestamp: at,
    message: body,
  });
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, cost: { total: 0 } };
  return [
    { type: 'session', version: 3, id: 's1', timestamp: at, cwd: '/home/mkovalenka/app' },
    message('a1', null, {
      role: 'user',
      content: [
        { type: 'text', text: 'look' },
        { type: 'image', data: image, mimeType: 'image/png' },
      ],
      timestamp: 1,
    }),
    message('a2', 'a1', {
      role: 'assistant',
      api: 'anthropic-messages',
      provider: 'anthropic',
      model: 'm',
      content: [
        { type: 'thinking', thinking: 'hm', thinkingSignature: signature },
        { type: 'text', text: 'ok' },
      ],
      usage,
      stopReason: 'stop',
      timestamp: 2,
    }),
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('');
}
