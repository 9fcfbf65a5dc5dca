/**
 * Control tokens that end a turn in the chat formats of supported models. Files name one end token, often that of the
 * pre-training text; a chat model ends its turn with another one.
 */
const TURN_ENDS = [
  '<|im_end|>',
  '<|eot_id|>',
  '<|eom_id|>',
  '<|end_of_text|>',
  '<|endoftext|>',
  '<end_of_turn>',
  '<|end|>',
  '<eos>',
  '</s>',
];

/** Ids of the turn ends among the control tokens of a vocabulary. */
export function turnEndIds(added: Iterable<{ id: number; content: string; control: boolean }>): number[] {
  const ids: number[] = [];
  for (const { id, content, control } of added) if (control && TURN_ENDS.includes(content)) ids.push(id);
  return ids;
}
