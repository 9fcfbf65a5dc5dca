import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { fromAtif } from '../../main/trajectory/from-atif.js';
import type { SessionInput, TrajectoryStep } from '../../main/trajectory/session-input.js';
import { toAtif } from '../../main/trajectory/to-atif.js';
import { validateAtif } from '../../main/trajectory/validate-atif.js';
import { SESSION } from './support.js';

function keysWithNull(value: unknown): string[] {
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, item]) => (item === null ? [key] : keysWithNull(item)));
}

describe('writer', () => {
  test('a raw export is valid, without nulls, and reads back the same', () => {
    const doc = JSON.parse(JSON.stringify(toAtif(SESSION, { mode: 'raw' }))) as unknown;
    expect(validateAtif(doc)).toEqual([]);
    expect(keysWithNull(doc)).toEqual([]);
    expect(fromAtif(doc)).toEqual(SESSION);
  });

  test.each<[string, unknown]>([
    ['verdicts', [null]],
    ['verdicts', [{ tool_call_id: 'c1', verdict: 'maybe', rule: 'r', reason: 'x' }]],
    ['verdicts', 'none'],
    ['adapter_hash', 7],
    ['synthetic', 'yes'],
  ])('what others wrote under our name is left out where it does not fit: %s %j', (name, value) => {
    const doc = JSON.parse(JSON.stringify(toAtif(SESSION, { mode: 'raw' }))) as { steps: { extra?: object }[] };
    for (const step of doc.steps) step.extra = { tackroom: { [name]: value }, context_management: [null] };
    const steps = fromAtif(doc).steps;
    expect(steps.map(({ text }) => text)).toEqual(SESSION.steps.map(({ text }) => text));
    for (const step of steps) {
      expect(step.verdicts ?? step.adapterHash ?? step.contextManagement).toBeUndefined();
    }
  });

  test('a published copy has neither token ids nor log probabilities', () => {
    const doc = toAtif(SESSION, { mode: 'published' });
    expect(validateAtif(doc)).toEqual([]);
    expect(JSON.stringify(doc)).not.toMatch(/token_ids|logprobs/);
    expect(doc.extra).toEqual({ tackroom: {} });
    expect(doc.final_metrics).toEqual({ total_prompt_tokens: 8, total_completion_tokens: 3, total_steps: 6 });
  });

  test('a synthetic answer counts as no model call', () => {
    const step = toAtif(SESSION, { mode: 'raw' }).steps[4];
    expect(step).toMatchObject({ source: 'agent', llm_call_count: 0 });
    expect(step).not.toHaveProperty('metrics');
    expect(step).not.toHaveProperty('model_name');
  });

  test('whatever was recorded, the document is valid for every reader', () => {
    const id = fc.string({ minLength: 1, maxLength: 5 });
    const step: fc.Arbitrary<TrajectoryStep> = fc.record({
      kind: fc.constantFrom('system' as const, 'user' as const, 'agent' as const),
      text: fc.string(),
      at: fc.option(fc.integer({ min: 0, max: 4e12 })),
      reasoning: fc.string(),
      toolCalls: fc.uniqueArray(
        fc.record({ id, name: fc.constant('bash'), arguments: fc.oneof(fc.string(), fc.json()) }),
        { selector: (call) => call.id, maxLength: 3 },
      ),
      results: fc.array(fc.record({ callId: fc.option(id), text: fc.string() }), { maxLength: 3 }),
      synthetic: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        const input: SessionInput = { ...SESSION, steps };
        const problems = validateAtif(JSON.parse(JSON.stringify(toAtif(input, { mode: 'raw' })))).filter(
          ({ level }) => level !== 'warning',
        );
        expect(problems).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
});

describe('validator', () => {
  const change = (edit: (doc: Record<string, never>) => void): string[] => {
    const doc = JSON.parse(JSON.stringify(toAtif(SESSION, { mode: 'raw' }))) as Record<string, never>;
    edit(doc);
    return validateAtif(doc).map((problem) => problem.code);
  };
  // biome-ignore lint/suspicious/noExplicitAny: the edits break the document's type on purpose
  const cases: [string, (doc: any) => void][] = [
    [
      'E001',
      (doc) => {
        doc.steps[1].step_id = 7;
      },
    ],
    [
      'E002',
      (doc) => {
        doc.steps[2].observation.results[0].source_call_id = 'zz';
      },
    ],
    [
      'E003',
      (doc) => {
        delete doc.agent.version;
      },
    ],
    [
      'E004',
      (doc) => {
        doc.steps[0].colour = 'red';
      },
    ],
    [
      'E005',
      (doc) => {
        doc.steps[1].metrics = { prompt_tokens: 1 };
      },
    ],
    [
      'E101',
      (doc) => {
        doc.schema_version = 'ATIF-v1.4';
      },
    ],
    [
      'E102',
      (doc) => {
        doc.schema_version = 'ATIF-v1.6';
        delete doc.session_id;
      },
    ],
    [
      'E103',
      (doc) => {
        doc.steps[2].tool_calls[1].tool_call_id = 'a';
        doc.steps[2].observation.results.pop();
      },
    ],
    [
      'E106',
      (doc) => {
        doc.steps[2].metrics.prompt_tokens = -1;
      },
    ],
    [
      'W001',
      (doc) => {
        doc.steps[0].timestamp = '2026-11-01T10:00:00';
      },
    ],
    [
      'W002',
      (doc) => {
        doc.steps[5].timestamp = '2020-01-01T00:00:00Z';
      },
    ],
    [
      'W006',
      (doc) => {
        doc.steps[2].observation.results.pop();
      },
    ],
    [
      'W008',
      (doc) => {
        doc.final_metrics.total_steps = 9;
      },
    ],
    [
      'W011',
      (doc) => {
        doc.steps[2].metrics.logprobs.pop();
      },
    ],
    [
      'W014',
      (doc) => {
        doc.steps[2].metrics.logprobs[0] = 0.5;
      },
    ],
  ];
  test.each(cases)('%s', (code, edit) => expect(change(edit as (doc: Record<string, never>) => void)).toContain(code));
  test('E000: no object', () => expect(validateAtif([]).map(({ code }) => code)).toEqual(['E000']));
  test('null is absent', () =>
    expect(
      change((doc) => {
        (doc as Record<string, unknown>).notes = null;
      }),
    ).toEqual([]));
});
