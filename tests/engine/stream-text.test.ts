import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StreamText } from '../../main/engine/stream-text.js';

const OPENER = '<tool_call>';

describe('StreamText', () => {
  it('holds back what may become a call', () => {
    const stream = new StreamText(OPENER);
    expect(stream.push('Let me <to')).toBe('Let me ');
    expect(stream.push('Let me <toast')).toBe('<toast');
    expect(stream.push('Let me <toast<tool_call>{"na')).toBe('');
  });
  it('holds back half a character', () => {
    const stream = new StreamText(OPENER);
    expect(stream.push('a\ufffd')).toBe('a');
    expect(stream.push('aж')).toBe('ж');
  });
  it('says exactly the text before the call, whatever the split', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', '<', 'tool_call>', OPENER, '\n', '{"x"'), { maxLength: 8 }),
        (parts) => {
          const whole = parts.join('');
          const at = whole.indexOf(OPENER);
          const content = at < 0 ? whole : whole.slice(0, at);
          const stream = new StreamText(OPENER);
          let said = '';
          for (let n = 1; n <= whole.length; n++) said += stream.push(whole.slice(0, n));
          expect(content.startsWith(said)).toBe(true);
          expect(said + stream.finish(content)).toBe(content);
        },
      ),
    );
  });
});
