import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ema } from '../../renderer/logic/ema.js';
import { etaRange } from '../../renderer/logic/eta.js';
import { fold } from '../../renderer/logic/fold.js';
import { formatAge, formatBytes, formatDuration, formatHash, formatShare } from '../../renderer/logic/format.js';
import { parseRoute, type Route, routeHref } from '../../renderer/logic/routes.js';
import { ShortcutReader } from '../../renderer/logic/shortcuts.js';
import { readableArguments } from '../../renderer/logic/tool-arguments.js';
import { visibleRows } from '../../renderer/logic/visible-rows.js';

describe('ema', () => {
  it('starts at the first value and matches the formula', () => {
    // weight 0.5: (0.5*1)/0.5, (0.25*1 + 0.5*3)/0.75, (0.125*1 + 0.25*3 + 0.5*5)/0.875
    expect(ema([1, 3, 5], 0.5)).toEqual([1, 1.75 / 0.75, 3.375 / 0.875]);
  });

  it('keeps gaps and changes nothing at weight 0', () => {
    expect(ema([1, null, 3], 0)).toEqual([1, null, 3]);
    expect(ema([2, null, 2], 0.9)).toEqual([2, null, 2]);
  });

  it('stays within the values', () => {
    const values = fc.array(fc.double({ min: -10, max: 10, noNaN: true }), { minLength: 1 });
    fc.assert(
      fc.property(values, fc.double({ min: 0, max: 0.99, noNaN: true }), (list, weight) => {
        const [low, high] = [Math.min(...list) - 1e-9, Math.max(...list) + 1e-9];
        return ema(list, weight).every((value) => value !== null && value >= low && value <= high);
      }),
    );
  });
});

describe('etaRange', () => {
  it('is silent before three durations are known, and when nothing is left', () => {
    expect(etaRange([0, 10, 20], 5)).toBeNull();
    expect(etaRange([0, 10, 20, 30], 0)).toBeNull();
  });

  it('multiplies the quartiles of recent durations by the steps left', () => {
    // durations 10, 20, 30, 40: quartiles 17.5 and 32.5
    expect(etaRange([0, 10, 30, 60, 100], 2)).toEqual({ lowMs: 35, highMs: 65 });
  });

  it('forgets a slow start', () => {
    const slowThenFast = [0, 10_000, ...Array.from({ length: 20 }, (_, i) => 10_000 + (i + 1) * 10)];
    expect(etaRange(slowThenFast, 1)).toEqual({ lowMs: 10, highMs: 10 });
  });
});

describe('fold', () => {
  it('counts what it hides', () => {
    const text = Array.from({ length: 61 }, (_, i) => `line ${i}`).join('\n');
    expect(fold(text)).toEqual({ shown: text.split('\n').slice(0, 20).join('\n'), hiddenLines: 41 });
    expect(fold(`${text}\n`).hiddenLines).toBe(41);
  });

  it('shows short texts whole', () => {
    for (const text of ['', 'one', 'a\nb\n', `${'x\n'.repeat(20)}`])
      expect(fold(text)).toEqual({ shown: text, hiddenLines: 0 });
  });

  it('never loses a line', () => {
    fc.assert(
      fc.property(fc.array(fc.string().filter((line) => !line.includes('\n') && line !== '')), (lines) => {
        const { shown, hiddenLines } = fold(lines.join('\n'), 3);
        return shown.split('\n').length + hiddenLines === Math.max(1, lines.length);
      }),
    );
  });
});

describe('visibleRows', () => {
  it('covers the view and stays in the list', () => {
    fc.assert(
      fc.property(fc.nat(100_000), fc.integer({ min: 100, max: 2000 }), fc.nat(3000), (top, height, total) => {
        const { first, end } = visibleRows(top, height, 36, total);
        const inList = first >= 0 && end <= total && first <= end;
        const covers = top + height > total * 36 || (first * 36 <= top && end * 36 >= top + height);
        return inList && covers && end - first < height / 36 + 20;
      }),
    );
  });
});

describe('routes', () => {
  it('come back as they went', () => {
    const id = fc.string({ minLength: 1 });
    fc.assert(
      fc.property(id, (text) => {
        for (const route of [
          { screen: 'session', id: text },
          { screen: 'run', id: text },
        ] as Route[])
          expect(parseRoute(routeHref(route))).toEqual(route);
      }),
    );
    for (const screen of ['home', 'sessions', 'runs', 'adapters', 'recording'] as const)
      expect(parseRoute(routeHref({ screen }))).toEqual({ screen });
  });

  it('go home when they make no sense', () => {
    for (const hash of ['', '#', '#/nowhere', '#token=x', '#/%']) expect(parseRoute(hash)).toEqual({ screen: 'home' });
    expect(parseRoute('#/runs/%zz')).toEqual({ screen: 'runs' });
  });
});

describe('ShortcutReader', () => {
  const press = (key: string, more: Partial<KeyboardEvent> = {}) => ({
    key,
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    ...more,
  });

  it('reads sequences, chords and single keys', () => {
    const reader = new ShortcutReader();
    expect(reader.read(press('g'), 0)).toBeUndefined();
    expect(reader.read(press('s'), 300)).toBe('sessions');
    expect(reader.read(press('s'), 400)).toBe('smooth');
    expect(reader.read(press('5', { ctrlKey: true }), 500)).toBe('runs');
    expect(reader.read(press('5', { metaKey: true }), 500)).toBe('runs');
    expect(reader.read(press('k'), 550, (action) => action !== 'keepValue')).toBe('previous');
    expect(reader.read(press('k'), 560)).toBe('keepValue');
    expect(reader.read(press('?'), 600)).toBe('help');
  });

  it('forgets a sequence that is not finished in time, and leaves Alt alone', () => {
    const reader = new ShortcutReader();
    reader.read(press('g'), 0);
    expect(reader.read(press('h'), 5000)).toBeUndefined();
    expect(reader.read(press('j', { altKey: true }), 5100)).toBeUndefined();
  });
});

describe('readableArguments', () => {
  it('shows a lone command as the command', () => {
    expect(readableArguments('{"command":"ls -l\\npwd"}')).toBe('ls -l\npwd');
  });
  it('shows other objects line by line', () => {
    expect(readableArguments('{"path":"a.py","limit":3,"text":"x\\ny"}')).toBe('path: a.py\nlimit: 3\ntext:\nx\ny');
  });
  it('shows what is no object as it was sampled', () => {
    for (const text of ['{"command": "ls', '[1]', '"x"', 'null', '']) expect(readableArguments(text)).toBe(text);
  });
});

describe('format', () => {
  it('keeps numbers short', () => {
    expect([formatDuration(840), formatDuration(3200), formatDuration(245_000), formatDuration(7_800_000)]).toEqual([
      '840 ms',
      '3.2 s',
      '4 m 05 s',
      '2 h 10 m',
    ]);
    expect([formatDuration(59_949), formatDuration(59_951)]).toEqual(['59.9 s', '1 m 00 s']);
    expect([formatAge(500), formatAge(12_000), formatAge(240_000), formatAge(7_200_000), formatAge(-5)]).toEqual([
      'now',
      '12 s',
      '4 m',
      '2 h',
      'now',
    ]);
    expect([formatBytes(0), formatBytes(900), formatBytes(4_310_000), formatBytes(184 << 20)]).toEqual([
      '0 B',
      '900 B',
      '4.1 MiB',
      '184 MiB',
    ]);
    expect([formatShare(0.634), formatShare(null)]).toEqual(['63.4 %', '–']);
    expect(formatHash('sha256:0123456789abcdef')).toBe('0123456789');
  });
});
