import type { DemoContext } from './context.js';
export async function sanitizeStage(context: DemoContext): Promise<Record<string, unknown>> {
  context.say('  (not there yet)');
  return {};
}
