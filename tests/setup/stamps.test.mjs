import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { scratchCheckout } from './support.mjs';

let root;
let stampedStep;
beforeAll(async () => {
  root = scratchCheckout();
  mkdirSync(join(root, 'src', 'deep'), { recursive: true });
  writeFileSync(join(root, 'src', 'deep', 'a.txt'), 'one');
  ({ stampedStep } = await import(pathToFileURL(join(root, 'scripts', 'setup', 'stamped-step.mjs')).href));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const make = (more = {}) =>
  stampedStep({
    name: 'copy',
    title: 'copy',
    after: [],
    deadlineMs: 1000,
    inputs: ['src'],
    outputs: ['out.txt'],
    run: async () => writeFileSync(join(root, 'out.txt'), 'made'),
    ...more,
  });

describe('a stamped step', () => {
  it('runs once, and again only when contents, facts or outputs change', async () => {
    const step = make();
    expect(step.skip()).toBe(null);
    await step.run(Date.now() + 1000);
    expect(step.skip()).toBe('up to date');

    utimesSync(join(root, 'src', 'deep', 'a.txt'), new Date(), new Date());
    expect(step.skip()).toBe('up to date');
    writeFileSync(join(root, 'src', 'deep', 'a.txt'), 'two');
    expect(step.skip()).toBe(null);
    await step.run(Date.now() + 1000);

    writeFileSync(join(root, 'src', 'b.txt'), 'new');
    expect(step.skip()).toBe(null);
    await step.run(Date.now() + 1000);
    expect(make({ facts: () => ['another compiler'] }).skip()).toBe(null);

    rmSync(join(root, 'out.txt'));
    expect(step.skip()).toBe(null);
  });

  it('is not current after a run that failed or that did not make its outputs', async () => {
    const step = make();
    await step.run(Date.now() + 1000);
    const broken = make({ run: () => Promise.reject(new Error('no')) });
    await expect(broken.run(0)).rejects.toThrow('no');
    expect(step.skip()).toBe(null);
    rmSync(join(root, 'out.txt'));
    await expect(make({ run: async () => undefined }).run(0)).rejects.toThrow(/did not make out.txt/);
  });

  it('runs again when an input changed while it ran', async () => {
    const step = make({
      run: async () => {
        writeFileSync(join(root, 'out.txt'), 'made');
        writeFileSync(join(root, 'src', 'b.txt'), 'changed meanwhile');
      },
    });
    await step.run(Date.now() + 1000);
    expect(step.skip()).toBe(null);
  });

  it('ignores files that the filter leaves out', async () => {
    const keep = (name) => name.endsWith('.txt');
    const step = make({ keep });
    await step.run(Date.now() + 1000);
    writeFileSync(join(root, 'src', 'notes.md'), 'x');
    expect(step.skip()).toBe('up to date');
  });
});
