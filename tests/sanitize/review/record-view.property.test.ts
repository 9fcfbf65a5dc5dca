/** Whatever a record holds: both sides of its view say what the record and its copy say, text by text. */
import { tmpdir } from 'node:os';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { TextPart } from '../../../contract/clean-calls.js';
import { recordView } from '../../../main/sanitize/review/record-view.js';
import { reviewRecords } from '../../../main/sanitize/review/review.js';
import { ACCOUNT, PERSON, TOKEN } from './support.js';

const policy = {
  rules: { version: 1 as const, entities: [], deny: [], keep: [] },
  confirmed: [],
  kept: 0,
  lookedAt: false,
};
const SECRETS = [
  `/home/${ACCOUNT}/x`,
  `token=${TOKEN}`,
  `Author: ${PERSON} <a.b@blue-works.io>`,
  '\\u001b[0m',
  '"quoted"',
  'é漢😀',
];

/** Some strings hold secrets, some are JSON themselves. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc
    .tuple(fc.string({ maxLength: 8 }), fc.constantFrom(...SECRETS), fc.string({ maxLength: 8 }))
    .map((all) => all.join(' ')),
  fc.constantFrom(...SECRETS).map((secret) => JSON.stringify({ deep: JSON.stringify([secret, 'and more']) })),
);
const json = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, text, fc.integer(), fc.constant(null), tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.dictionary(fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom(...SECRETS)), tie('value'), {
    maxKeys: 4,
  }),
}));

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(stringsIn);
}
const said = (parts: readonly TextPart[]): string => parts.map((part) => part.text).join('');

it('says on both sides what the record and its copy say', () => {
  fc.assert(
    fc.property(fc.array(json.object, { minLength: 1, maxLength: 3 }), (values) => {
      const lines = values.map((value) => Buffer.from(JSON.stringify(value)));
      const review = reviewRecords(lines, { policy, images: 0, folder: tmpdir() });
      lines.forEach((line, i) => {
        const view = recordView(lines, review, i, true);
        const fields = view.fields.filter(({ isKey }) => !isKey);
        expect(view.hiddenPlaces + view.places.length).toBe(review.places.filter(({ record }) => record === i).length);
        if (view.withheld) return;
        const original = stringsIn(JSON.parse(line.toString())).filter(Boolean);
        const clean = stringsIn(JSON.parse(review.clean[i]!.toString()));
        expect(fields.map((field) => said(field.original)).sort()).toEqual(original.sort());
        for (const field of fields) expect(clean).toContain(said(field.clean!));
      });
    }),
    { numRuns: 80 },
  );
});
