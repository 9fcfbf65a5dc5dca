/** Tells conversations apart whose harness names no session. */
import { sha256 } from '../record/hash.js';
import { list, record } from './relay/edit.js';

/**
 * What every turn of a conversation repeats and no other has: everything up to the first word of the user. `member` holds the messages. A
 * body that cannot be read is known by all of it.
 */
export function conversationKey(body: Buffer, member: 'messages' | 'input'): string {
  try {
    const { [member]: said, system, instructions } = record(JSON.parse(body.toString('utf8')));
    const messages = list(said);
    const first = messages.findIndex(({ role }) => role === 'user');
    const begin = first < 0 ? said : messages.slice(0, first + 1);
    return sha256(JSON.stringify([system, instructions, begin]));
  } catch {
    return sha256(body.toString('latin1'));
  }
}
