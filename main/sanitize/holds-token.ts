/** Whether a text holds a credential that is known by its shape. */
import { SanitizeEngine } from './engine.js';

export function holdsToken(text: string): boolean {
  const found = new SanitizeEngine().detect(Buffer.from(text));
  for (let i = 0; i < found.length; i++)
    if (found.certainty(i) === 'shape' || found.certainty(i) === 'checksum') return true;
  return false;
}
