/** How much the model holds that a harness gets. */
import type { GatewaySettings } from '../harness/connector.js';
import { servedModel } from '../harness/test-call.js';
import { inspectModel } from '../models/inspect.js';

/**
 * Tokens: what the running gateway says, else what the files of the model say; null: nobody knows. `model` is a name that the user
 * gave, of which only the files are asked; `find` says where they lie. Errors: those of `find` for such a name.
 */
export async function servedContext(
  { baseUrl, token }: Pick<GatewaySettings, 'baseUrl' | 'token'>,
  model: string | undefined,
  find: (model: string | undefined) => string | Promise<string>,
): Promise<number | null> {
  let named = model;
  if (named === undefined) {
    const served = await servedModel(baseUrl, token);
    if (served && (served.contextTokens !== null || served.id === null)) return served.contextTokens;
    named = served?.id?.replace(/^tackroom\//, '');
  }
  try {
    return inspectModel(await find(named)).contextLength || null;
  } catch (error) {
    if (model !== undefined) throw error;
    // Without a model of its own a Tackroom may still pass requests on to another server.
    return null;
  }
}
