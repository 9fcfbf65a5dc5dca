import { describe, expect, test } from 'vitest';
import { compileRules } from '../../main/sanitize/rules.js';
import { SanitizeContext, sanitizeBytes } from '../../main/sanitize/sanitize.js';

const clean = (rules: string, text: string): string =>
  sanitizeBytes(Buffer.from(text), new SanitizeContext(), compileRules(rules, 'rules.yml')).bytes.toString();
const VALUES = 'version: 1\nentities: [{ name: project, values: [Falkenstein, Blue Härbour, R2-D2] }]';

describe("the user's rules", () => {
  test('values go in any case and encoding, and not inside other words', () => {
    expect(clean(VALUES, 'falkenstein, FALKENSTEIN and Falkensteiner')).toBe(
      'REDACTED_PROJECT_1, REDACTED_PROJECT_1 and Falkensteiner',
    );
    expect(clean(VALUES, JSON.stringify({ a: JSON.stringify(['Blue Härbour']), 'R2-D2': 1 }))).toBe(
      JSON.stringify({ a: JSON.stringify(['REDACTED_PROJECT_1']), REDACTED_PROJECT_2: 1 }),
    );
    expect(clean(VALUES, 'x=%46alkenstein&y=Blue%20H%C3%A4rbour')).toBe('x=REDACTED_PROJECT_1&y=REDACTED_PROJECT_2');
  });

  test('patterns go by the literal that they hold or name', () => {
    const rules = (more: string): string =>
      `version: 1\nentities: [{ name: ticket, pattern: '[A-Z]{2,4}-\\d{3,6}'${more} }]`;
    expect(
      clean(`version: 1\nentities: [{ name: ticket, pattern: 'FALK-\\d{3,6}' }]`, 'FALK-123 FALK-12 XFALK-99999'),
    ).toBe('REDACTED_TICKET_1 FALK-12 XREDACTED_TICKET_2');
    expect(() => clean(rules(''), '')).toThrow(/without a literal of three characters \(ticket\)/);
    expect(clean(rules(", literal: '-1'"), 'AB-123 and CD-200')).toBe('REDACTED_TICKET_1 and CD-200');
  });

  test('what keeps a session in is refused by the name of its rule alone', () => {
    const rules = 'version: 1\ndeny: [{ name: contract, values: [strictly confidential] }]';
    expect(clean(rules, 'public')).toBe('public');
    expect(() => clean(rules, '{"a":"STRICTLY confidential: the plan"}')).toThrow(
      expect.objectContaining({ code: 'REFUSED', message: 'The session holds what the rule "contract" keeps in.' }),
    );
  });

  test('keeping in is not hidden by what else is found in the same place', () => {
    const both =
      'version: 1\nentities: [{ name: a, values: [Falkenstein] }]\ndeny: [{ name: b, values: [Falkenstein] }]';
    expect(() => clean(both, 'at Falkenstein')).toThrow(expect.objectContaining({ code: 'REFUSED' }));
    const address = 'version: 1\ndeny: [{ name: b, values: [Falkenstein] }]';
    expect(() => clean(address, 'mail jo@Falkenstein.io')).toThrow(expect.objectContaining({ code: 'REFUSED' }));
  });

  test('what is kept stays in every spelling, as exactly this value', () => {
    const keep = 'version: 1\nkeep: [jo@blue-works.io, vmarkelova]';
    expect(clean(keep, 'jo@blue-works.io and al@blue-works.io')).toBe('jo@blue-works.io and person1@example.com');
    expect(clean(keep, JSON.stringify({ a: 'cd /home/vmarkelova/x /home/pdorn/y' }))).toBe(
      JSON.stringify({ a: 'cd /home/vmarkelova/x /home/user1/y' }),
    );
    expect(clean(keep, 'to=jo%40blue-works.io')).toBe('to=jo%40blue-works.io');
  });

  test('long values go whole, and partial ones inside words', () => {
    const long = 'a sentence that says much '.repeat(20).trim();
    const rule = `version: 1\nentities: [{ name: note, values: [${JSON.stringify(long)}] }]`;
    expect(clean(rule, `x ${long.toUpperCase()} y`)).toBe('x REDACTED_NOTE_1 y');
    expect(clean(rule, `x ${long.slice(0, -1)} y`)).toContain('a sentence');
    const partial = 'version: 1\nentities: [{ name: p, values: [alkenst], partial: true }]';
    expect(clean(partial, 'Falkenstein')).toBe('FREDACTED_P_1ein');
  });

  test.each([
    ['version: 2', /version/],
    ['version: 1\nentities: [{ name: a }]', /either values or a pattern/],
    ['version: 1\nentities: [{ name: a, values: [ab] }]', /values.0/],
    ['version: 1\nentities: [{ name: a, values: [abc], color: red }]', /entities.0.*color/],
    ['version: 1\nentities: [{ name: "a\\nb", values: [abc] }]', /name/],
    ["version: 1\nentities: [{ name: a, pattern: '(abc' }]", /linear time|Unterminated/],
    ["version: 1\nentities: [{ name: a, pattern: '(?<=abc)def' }]", /linear time/],
    ["version: 1\nentities: [{ name: a, pattern: '(abcd)\\1' }]", /linear time|literal/],
    ['a: &a [*a]', /neither JSON nor YAML|version/],
    ['{', /neither JSON nor YAML/],
  ])('%s is told', (text, message) => {
    expect(() => compileRules(text, 'r.yml')).toThrow(message);
  });

  test('a pattern that would take for ever elsewhere takes its time here', () => {
    const began = process.cpuUsage();
    clean("version: 1\nentities: [{ name: a, pattern: '(x+x+)+yzzy' }]", `${'x'.repeat(900)} yzzy ${'x'.repeat(5000)}`);
    const { user, system } = process.cpuUsage(began);
    expect(user + system).toBeLessThan(5_000_000);
  });
});
