import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const css = readFileSync(join(import.meta.dirname, '../../renderer/styles/tokens.css'), 'utf8');
const declarations = (selector: string): string[] => {
  const from = css.indexOf('{', css.indexOf(selector));
  return [...css.slice(from, css.indexOf('}', from)).matchAll(/--[\w-]+:[^;]+;/g)].map(([line]) => line).sort();
};

it('a chosen dark theme is the dark theme of the system', () => {
  const system = declarations(':root:not([data-theme="light"])');
  expect(system.length).toBeGreaterThan(20);
  expect(declarations(':root[data-theme="dark"]')).toEqual(system);
});

it('the dark theme sets every colour that the light one has', () => {
  const names = (list: string[]): string[] =>
    list.map((line) => line.split(':')[0] ?? '').filter((name) => !['--font', '--mono', '--radius'].includes(name));
  expect(names(declarations(':root[data-theme="dark"]'))).toEqual(names(declarations(':root {')));
});
