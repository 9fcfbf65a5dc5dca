import { createHash } from 'node:crypto';
import type { ChatMessage, ToolDefinition } from '../../engine/protocol.js';
import { toolLine } from './render.js';

/** What pi sends first: the parts of the request body that make up the prompt. */
export interface PiRequestBody {
  messages: ChatMessage[];
  tools: ToolDefinition[];
}

/** Where pi's documentation lies below the folder it is installed in; the folder itself differs by machine. */
export const PI_PACKAGE_PATH = '/node_modules/@earendil-works/pi-coding-agent';

/** Starts of tool calls that get a token each. */
export const CALL_PREFIXES = [
  '{"name":"bash","arguments":{"command":"',
  '{"name":"read","arguments":{"path":"',
  '{"name":"write","arguments":{"path":"',
] as const;

/** Shorter pieces of a line are not worth a token. */
const MIN_PIECE = 6;
const CWD_BLOCK = /(<cwd>\n)([^\n]*)(\n<\/cwd>)/;

/** pi's system prompt with the two paths that differ by machine and session found. */
export interface PiPrompt {
  text: string;
  cwd: string;
  /** Folder that holds `node_modules`. */
  installRoot: string;
  tools: ToolDefinition[];
}

/** Takes pi's prompt out of a request body; null where the body has no system prompt with a working directory. */
export function readPiPrompt(body: PiRequestBody): PiPrompt | null {
  const system = body.messages.find((message) => message.role === 'system' || message.role === 'developer')?.content;
  if (typeof system !== 'string') return null;
  const cwd = CWD_BLOCK.exec(system)?.[2];
  const end = system.indexOf(PI_PACKAGE_PATH);
  if (cwd === undefined || end < 0) return null;
  return { text: system, cwd, installRoot: system.slice(system.lastIndexOf(' ', end) + 1, end), tools: body.tools };
}

/** pi's prompt as another working directory or installation would see it. */
export function withPaths(prompt: PiPrompt, cwd: string, installRoot: string): string {
  const moved = prompt.text.replaceAll(prompt.installRoot + PI_PACKAGE_PATH, () => installRoot + PI_PACKAGE_PATH);
  return moved.replace(CWD_BLOCK, (_, open: string, __: string, close: string) => open + cwd + close);
}

/** The distinct stretches of pi's prompt that are the same everywhere: lines cut at the paths, and tool definitions. */
export function fixedPieces(prompt: PiPrompt): string[] {
  const CUT = '\0';
  const text = withPaths({ ...prompt, text: prompt.text }, CUT, CUT).replaceAll(PI_PACKAGE_PATH, CUT);
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const pieces = lines.flatMap((line) => line.split(CUT)).filter((piece) => piece.length >= MIN_PIECE);
  return [...new Set([...pieces, ...prompt.tools.map(toolLine)])];
}

/** sha256 of a piece, hex. */
export function pieceHash(piece: string): string {
  return createHash('sha256').update(piece, 'utf8').digest('hex');
}
