/** Setting `upstreams`: harness -> server that answers instead of the engine. */
import { z } from 'zod';
import { TackroomError } from '../../contract/errors.js';
import type { Harness } from '../../contract/records.js';

export const UPSTREAMS_SETTING = 'upstreams';

export const UpstreamRoute = z.object({
  /** With `/v1`, or whatever stands before `/chat/completions`. */
  baseUrl: z.string(),
  /** Where the server's key is, so that it is not here: an environment variable of the gateway, or a name in the vault. */
  apiKeyEnv: z.string().optional(),
  apiKeyVault: z.string().optional(),
  /** The only API that the server speaks, where requests in another are to be translated. */
  api: z.enum(['chat', 'responses', 'messages']).optional(),
  /** Its own name of the model. */
  model: z.string().min(1).max(200).optional(),
});
export type UpstreamRoute = z.infer<typeof UpstreamRoute>;
export type UpstreamSetting = Partial<Record<Harness, UpstreamRoute>>;

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/i;

const wrong = (message: string, hint: string): TackroomError => new TackroomError('BAD_ARGUMENT', message, hint);

/** Throws BAD_ARGUMENT with what is wrong. */
export function checkRoute(route: UpstreamRoute): UpstreamRoute {
  const url = URL.canParse(route.baseUrl) ? new URL(route.baseUrl) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw wrong(`${route.baseUrl} is not the address of a server.`, 'Give it whole, as in http://127.0.0.1:8080/v1.');
  if (url.username !== '' || url.password !== '')
    throw wrong(
      'The address holds a password, which would be stored and shown.',
      'Give the key by itself, with --key-stdin: it goes into the vault.',
    );
  if (url.search !== '' || url.hash !== '')
    throw wrong('The address of a server has no query.', 'Leave out what follows the question mark.');
  if (route.apiKeyEnv !== undefined && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(route.apiKeyEnv))
    throw wrong(
      '--key-env takes the name of an environment variable, not the key itself.',
      'For example: --key-env OPENAI_API_KEY, or --key-stdin for the key itself.',
    );
  return { ...route, baseUrl: route.baseUrl.replace(/\/+$/, '') };
}

/** Whether what is sent there stays on this machine. */
export const staysHere = (route: UpstreamRoute): boolean => LOOPBACK.test(new URL(route.baseUrl).hostname);
