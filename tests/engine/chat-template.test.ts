import { describe, expect, it } from 'vitest';
import { CHATML, ChatTemplate, PLAIN_TEXT } from '../../main/engine/chat-template.js';

const MESSAGES = [
  { role: 'system', content: 'S' },
  { role: 'user', content: 'U' },
];
const render = (source: string, extra: { tools?: unknown[]; addGenerationPrompt?: boolean } = {}) =>
  new ChatTemplate(source).render({ messages: MESSAGES, tools: [], bosToken: '<s>', eosToken: '</s>', ...extra });

describe('ChatTemplate', () => {
  it('gives templates what the Hugging Face libraries give them', () => {
    expect(render('{{ bos_token }}{{ messages[1].content }}{{ eos_token }}{{ add_generation_prompt }}')).toBe(
      '<s>U</s>true',
    );
    expect(render("{{ strftime_now('%Y') }}")).toMatch(/^20\d\d$/);
    expect(render('{{ tools is defined }}')).toBe('false');
    expect(render('{{ tools | tojson }}', { tools: [{ a: [1, 'ж'] }] })).toBe('[{"a": [1, "ж"]}]');
    expect(
      render('{% for m in messages %}\n  {% if m.role == "user" %}\n{{ m.content }}\n{% endif %}\n{% endfor %}'),
    ).toBe('U\n');
  });

  it('says why a template refuses or does not compile', () => {
    expect(() => render("{{ raise_exception('No system message, please.') }}")).toThrow(
      expect.objectContaining({ code: 'BAD_ARGUMENT', message: expect.stringContaining('No system message, please.') }),
    );
    expect(() => render('{% for x in 5 %}{% endfor %}')).toThrow(expect.objectContaining({ code: 'BAD_ARGUMENT' }));
    for (const source of ['{% if %}', '{{ "', '{% for x in y %}'])
      expect(() => new ChatTemplate(source), source).toThrow(expect.objectContaining({ code: 'MODEL_UNSUPPORTED' }));
  });

  it('knows whether tools go into the prompt', () => {
    expect(new ChatTemplate('{% if tools %}{% endif %}').knowsTools).toBe(true);
    expect(new ChatTemplate(CHATML).knowsTools).toBe(false);
  });

  it('has defaults for models without a template', () => {
    expect(render(CHATML)).toBe(
      '<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nU<|im_end|>\n<|im_start|>assistant\n',
    );
    expect(render(PLAIN_TEXT)).toBe('S\n\nUser: U\n\nAssistant:');
    expect(render(PLAIN_TEXT, { addGenerationPrompt: false })).toBe('S\n\nUser: U\n\n');
  });
});
