/** Whether a text holds a credential that is known by its shape. */
import { SanitizeEngine } from './engine.js';

export function holdsToken(text: string): boolean {
  return new SanitizeEngine()
    .detect(Buffer.from(text))
    .some(({ certainty }) => certainty === 'shape' || certainty === 'checksum');
}
