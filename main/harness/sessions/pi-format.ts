/** Shapes in a session file of pi (JSONL): version 3 is a tree of entries with ids; older files are linear and have none. */
import { z } from 'zod';

export const PiPart = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  thinking: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  arguments: z.unknown().optional(),
});
export const PiContent = z.union([z.string(), z.array(PiPart)]).optional();
export const PiMessage = z.looseObject({
  role: z.string(),
  content: PiContent,
  toolCallId: z.string().optional(),
  toolName: z.string().optional(),
  isError: z.boolean().optional(),
});
export type PiMessage = z.infer<typeof PiMessage>;
export const PiEntry = z.looseObject({
  type: z.string(),
  id: z.string().optional(),
  parentId: z.string().nullable().optional(),
  cwd: z.string().optional(),
  message: z.unknown().optional(),
});
export type PiEntry = z.infer<typeof PiEntry>;
