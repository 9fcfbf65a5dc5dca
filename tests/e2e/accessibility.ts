/** Basic accessibility checks of what is on screen, run inside the page. */
import type { Page } from 'playwright-core';

/** WCAG 2.2, 1.4.3: 4.5:1, or 3:1 for text of 24 px, or of 18.66 px and bold. */
function findProblems(): string[] {
  const problems: string[] = [];
  const describe = (element: Element): string =>
    `<${element.tagName.toLowerCase()} class="${element.getAttribute('class') ?? ''}"> ${element.textContent?.trim().slice(0, 40)}`;
  const visible = (element: Element): boolean =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true });

  if (!document.documentElement.lang) problems.push('the page has no language');
  if (document.querySelectorAll('h1').length !== 1)
    problems.push(`${document.querySelectorAll('h1').length} first-level headings`);
  if (document.querySelectorAll('main').length !== 1) problems.push('not exactly one main landmark');
  const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
  for (const id of new Set(ids))
    if (ids.filter((other) => other === id).length > 1) problems.push(`id ${id} is used twice`);
  for (const attribute of ['aria-labelledby', 'aria-describedby', 'aria-controls'])
    for (const element of document.querySelectorAll(`[${attribute}]`))
      for (const id of (element.getAttribute(attribute) ?? '').split(/\s+/))
        if (!document.getElementById(id)) problems.push(`${attribute} of ${describe(element)} names nothing`);

  for (const element of document.querySelectorAll('a, button, input, select, [role=img], dialog, progress')) {
    if (!visible(element)) continue;
    const labels =
      element instanceof HTMLInputElement || element instanceof HTMLSelectElement ? element.labels?.length : 0;
    const named =
      element.getAttribute('aria-label') ||
      element.getAttribute('aria-labelledby') ||
      labels ||
      element.textContent?.trim();
    if (!named) problems.push(`no name: ${describe(element)}`);
  }
  for (const link of document.querySelectorAll('a a, button button, a button, button a'))
    problems.push(`nested: ${describe(link)}`);
  for (const list of document.querySelectorAll('ul, ol'))
    for (const child of list.children) if (child.tagName !== 'LI') problems.push(`not a list item: ${describe(child)}`);

  type Colour = [number, number, number, number];
  const parse = (text: string): Colour => {
    const numbers = (text.match(/-?[\d.]+(e-?\d+)?/g) ?? []).map(Number);
    const scale = text.startsWith('color(') ? 255 : 1;
    const [r = 0, g = 0, b = 0, a = 1] = numbers;
    return [r * scale, g * scale, b * scale, a];
  };
  const over = (top: Colour, below: Colour): Colour => {
    const mix = (i: 0 | 1 | 2): number => top[i] * top[3] + below[i] * (1 - top[3]);
    return [mix(0), mix(1), mix(2), 1];
  };
  const backgroundOf = (element: Element | null): Colour =>
    element
      ? over(parse(getComputedStyle(element).backgroundColor), backgroundOf(element.parentElement))
      : [255, 255, 255, 1];
  const luminance = ([r, g, b]: Colour): number => {
    const linear = (value: number): number => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    };
    return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set<string>();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (
      !element ||
      !node.textContent?.trim() ||
      !visible(element) ||
      element.closest(':disabled, option, script, style')
    )
      continue;
    const style = getComputedStyle(element);
    const background = backgroundOf(element);
    const [a, b] = [luminance(over(parse(style.color), background)), luminance(background)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = Number.parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const key = `${style.color} ${background.join()}`;
    if (ratio >= (large ? 3 : 4.5) || seen.has(key)) continue;
    seen.add(key);
    problems.push(`contrast ${ratio.toFixed(2)}: ${describe(element)}`);
  }
  return problems;
}

export const accessibilityProblems = (page: Page): Promise<string[]> => page.evaluate(findProblems);
