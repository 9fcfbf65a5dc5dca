/** Chat Completions: calls come in pieces, of which the first carries the whole of what is left; log-probabilities stay where they were. */
import { type Edit, type Editor, type Json, list, paragraph, record } from './edit.js';

const callsOf = ({ calls }: Edit): Json[] =>
  calls
    .filter((call) => call !== null)
    .map(({ id, name, arguments: text }) => ({ id, type: 'function', function: { name, arguments: text } }));

function withoutCalls(message: Json): Json {
  const { tool_calls: _calls, ...rest } = message;
  return rest;
}

function stream(held: readonly Json[], edit: Edit): Json[] {
  const left = callsOf(edit).map((call, index) => ({ index, ...call }));
  const out: Json[] = [];
  let told = edit.notice === null;
  let placed = left.length === 0;
  for (const chunk of held) {
    const [choice] = list(chunk.choices);
    if (!choice) {
      out.push(chunk);
      continue;
    }
    const delta = withoutCalls(record(choice.delta));
    const came = record(choice.delta).tool_calls !== undefined;
    const ends = Boolean(choice.finish_reason);
    if (!placed && (came || ends)) {
      placed = true;
      delta.tool_calls = left;
    }
    if (ends && !told) {
      told = true;
      const { usage: _usage, ...frame } = chunk;
      out.push({
        ...frame,
        choices: [{ index: choice.index ?? 0, delta: { content: paragraph(edit) }, finish_reason: null }],
      });
    }
    const { message: _message, ...frame } = choice;
    out.push({ ...chunk, choices: [{ ...frame, delta, ...(ends && { finish_reason: edit.finish }) }] });
  }
  return out;
}

function document(answer: Json, edit: Edit): Json {
  const [choice = {}] = list(answer.choices);
  const message = withoutCalls(record(choice.message));
  const left = callsOf(edit);
  const text = typeof message.content === 'string' ? message.content : '';
  return {
    ...answer,
    choices: [
      {
        ...choice,
        message: {
          ...message,
          ...(edit.notice !== null && { content: `${text}${paragraph(edit)}` }),
          ...(left.length > 0 && { tool_calls: left }),
        },
        finish_reason: edit.finish,
      },
    ],
  };
}

export const chatEditor: Editor = {
  named: false,
  holdsFrom(event) {
    const choices = list(event.choices);
    const [choice] = choices;
    if (!choice) return event.usage !== undefined && event.usage !== null;
    const { tool_calls: calls, function_call: legacy } = record(choice.delta);
    return (
      Boolean(choice.finish_reason) ||
      choices.length > 1 ||
      Boolean(choice.index) ||
      Boolean(calls ?? legacy ?? choice.message)
    );
  },
  isLast: (data) => data === '[DONE]',
  stream,
  document,
  tail: (held) => (held.some(({ data }) => data === '[DONE]') ? '' : 'data: [DONE]\n\n'),
};
