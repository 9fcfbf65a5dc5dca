// Takes a picture of a running window:
//   node scripts/screenshot.mjs ADDRESS OUT.png [--screen '#/runs/ID'] [--light] [--chromium PATH]
// ADDRESS is what `tackroom serve` prints, token included.
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    screen: { type: 'string', default: '#/' },
    light: { type: 'boolean', default: false },
    chromium: { type: 'string', default: '/usr/bin/chromium' },
  },
});
const [address, out] = positionals;
if (!address || !out) {
  console.error("Name the window's address and the file to write.");
  process.exit(2);
}
const SETTLE_MS = 1200;
const browser = await chromium.launch({
  executablePath: values.chromium,
  args: process.getuid?.() === 0 ? ['--no-sandbox', '--disable-gpu'] : ['--disable-gpu'],
});
const page = await browser.newPage({
  viewport: { width: 1320, height: 860 },
  colorScheme: values.light ? 'light' : 'dark',
});
await page.goto(address);
await page.getByText('Connected', { exact: true }).waitFor();
await page.evaluate((screen) => {
  location.hash = screen;
}, values.screen);
await page.waitForTimeout(SETTLE_MS);
await page.screenshot({ path: out });
await browser.close();
