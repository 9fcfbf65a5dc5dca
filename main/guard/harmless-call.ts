/**
 * A blocked call rewritten to one that only reports: the harness runs it, sees it fail with exit code 126, and the agent
 * goes on. Which tool prints: the call's own if it is a shell, else the shell tool that the request declares.
 */
import type { ToolDefinition } from '../engine/protocol.js';
import type { SampledCall } from './types.js';

/** The shell tools of pi and opencode, of hermes, and of others. */
const SHELL_TOOLS = ['bash', 'terminal', 'shell', 'execute_command', 'run_command', 'run_terminal_cmd', 'exec_command'];
const COMMAND_KEYS = ['command', 'cmd', 'script'];
const MAX_NOTICE = 500;
/** "Command invoked cannot execute" (POSIX shells). */
const EXIT_CODE = 126;

/** Null where the request declares no shell tool: the notice then stands in the answer as text. The id stays. */
export function harmlessCall(call: SampledCall, tools: readonly ToolDefinition[], notice: string): SampledCall | null {
  const shells = tools.filter((tool) => SHELL_TOOLS.includes(tool.function.name));
  const tool = shells.find((each) => each.function.name === call.name) ?? shells[0];
  if (!tool) return null;
  const { properties, required } = schemaOf(tool);
  const key = COMMAND_KEYS.find((each) => each in properties) ?? 'command';
  const script = `printf '%s\\n' '${harmless(notice)}' >&2; exit ${EXIT_CODE}`;
  const args: Record<string, unknown> = { [key]: isArray(properties[key]) ? ['sh', '-c', script] : script };
  for (const name of required) if (!(name in args)) args[name] = filler(name, properties[name]);
  return { id: call.id, name: tool.function.name, arguments: JSON.stringify(args) };
}

function schemaOf(tool: ToolDefinition): { properties: Record<string, unknown>; required: string[] } {
  const schema = record(tool.function.parameters);
  const required = Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === 'string') : [];
  return { properties: record(schema.properties), required };
}

/** Some value of the type that the tool asks for. */
function filler(name: string, schema: unknown): unknown {
  const { type, enum: values, default: preset } = record(schema);
  if (preset !== undefined) return preset;
  if (Array.isArray(values) && values.length > 0) return values[0];
  if (type === 'boolean') return false;
  if (type === 'number' || type === 'integer') return 1000;
  if (type === 'array') return [];
  if (type === 'object') return {};
  return name === 'description' ? 'Report a blocked call' : '';
}

function isArray(schema: unknown): boolean {
  return record(schema).type === 'array';
}

function record(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

/** Also letters, but none of those that Windows turns into a quote, a bar or a grave accent when it changes the code page. */
const INTERPRETED = /(?:[^\w .,:/\p{Lu}\p{Ll}\p{Lo}-]|[\u01c0-\u01c3])+/gu;

/**
 * One line that means the same to sh, cmd and PowerShell, whatever their rules of quoting: what the model wrote (a tool's name)
 * may stand in the notice.
 */
function harmless(notice: string): string {
  return notice
    .slice(0, MAX_NOTICE)
    .replace(INTERPRETED, ' ')
    .replace(/ +/g, ' ')
    .replace(/ (?=[:,.])/g, '')
    .trim();
}
