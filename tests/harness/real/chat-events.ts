/** A scripted answer in Chat Completions. */
import { argumentsText, cut, type Event, type Frame, finishOf, pieces, type Said } from './reply.js';

const usageOf = (said: Said, { n }: Frame): Record<string, unknown> | null => {
  if (said.promptTokens === null) return null;
  const prompt = (said.promptTokens ?? 1000) + n;
  return { prompt_tokens: prompt, completion_tokens: 20 + n, total_tokens: prompt + 20 + n };
};

export function chatEvents(said: Said, frame: Frame): Event[] {
  const base = { id: `chatcmpl-${frame.n}`, object: 'chat.completion.chunk', created: 1_700_000_000 + frame.n };
  const chunk = (delta: Record<string, unknown>, finish: string | null = null): Event => ({
    name: null,
    data: { ...base, model: said.model ?? frame.model, choices: [{ index: 0, delta, finish_reason: finish }] },
  });
  const events = [chunk({ role: 'assistant', content: '' })];
  for (const piece of pieces(said.reasoning))
    events.push(chunk({ [said.reasoningField ?? 'reasoning_content']: piece }));
  for (const piece of pieces(said.text)) events.push(chunk({ content: piece }));
  said.calls?.forEach((call, index) => {
    const place = said.form === 'no-index' ? {} : { index };
    const opening = { ...place, ...(call.id !== undefined && { id: call.id }), type: 'function' };
    const text = argumentsText(call);
    const whole = said.form === 'whole' || said.form === 'no-index';
    events.push(chunk({ tool_calls: [{ ...opening, function: { name: call.name, arguments: whole ? text : '' } }] }));
    if (!whole)
      for (const piece of cut(text)) events.push(chunk({ tool_calls: [{ ...place, function: { arguments: piece } }] }));
  });
  const finish = finishOf(said);
  if (finish !== null) events.push(chunk({}, finish));
  const usage = usageOf(said, frame);
  if (frame.includeUsage && usage !== null)
    events.push({ name: null, data: { ...base, model: said.model ?? frame.model, choices: [], usage } });
  if (finish !== null && said.form !== 'no-done') events.push({ name: null, data: '[DONE]' });
  return events;
}

export function chatDocument(said: Said, frame: Frame): unknown {
  const calls = said.calls?.map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: argumentsText(call) },
  }));
  return {
    id: `chatcmpl-${frame.n}`,
    object: 'chat.completion',
    created: 1_700_000_000 + frame.n,
    model: said.model ?? frame.model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: said.text ?? null, ...(calls && { tool_calls: calls }) },
        finish_reason: finishOf(said),
      },
    ],
    usage: usageOf(said, frame) ?? undefined,
  };
}
