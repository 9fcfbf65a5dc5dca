// What the user sees of running steps: one line that changes on a terminal, else a line at the start and the end of each.
const REFRESH_MS = 500;
const live = process.stderr.isTTY === true;
const running = new Map();
let timer;

const seconds = (sinceMs) => ((Date.now() - sinceMs) / 1000).toFixed(0);

function draw() {
  const parts = [...running].map(([title, since]) => `${title} ${seconds(since)} s`);
  process.stderr.write(`\r\x1b[2K${parts.join('  ·  ')}`.slice(0, (process.stderr.columns || 80) + 4));
}

/** Prints a line above the live one. */
export function say(line) {
  if (live) process.stderr.write('\r\x1b[2K');
  process.stderr.write(`${line}\n`);
  if (live && running.size > 0) draw();
}

export function stepStarted(title) {
  running.set(title, Date.now());
  if (!live) say(`  … ${title}`);
  else {
    timer ??= setInterval(draw, REFRESH_MS);
    draw();
  }
}

/** `mark`: "✓", "–" (skipped) or "✗"; `note` says why. */
export function stepEnded(title, mark, note) {
  const since = running.get(title);
  running.delete(title);
  if (running.size === 0) {
    clearInterval(timer);
    timer = undefined;
  }
  const time = since === undefined ? '' : ` (${((Date.now() - since) / 1000).toFixed(1)} s)`;
  say(`  ${mark} ${title}${time}${note ? `: ${note}` : ''}`);
}
