import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TackroomError } from '../../../contract/errors.js';
import { packageRoot } from '../../../native/addon.js';
import type { PiRequestBody } from './pi-lines.js';

/** Where the private pi of `scripts/install-pi.mjs` lies. */
export interface PiInstallation {
  /** The Node.js binary pi runs on. */
  node: string;
  /** pi's entry script. */
  cli: string;
}

export function privatePi(): PiInstallation {
  const modules = join(packageRoot(), '.harness', 'pi', 'node_modules');
  return {
    node: join(modules, 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node'),
    cli: join(modules, '@earendil-works', 'pi-coding-agent', 'dist', 'bundle', 'cli.js'),
  };
}

const DEADLINE_MS = 30_000;
const MAX_BODY_BYTES = 4 << 20;

/**
 * Runs the real pi once, with a home of its own and a question that does not matter, against a loopback server, and
 * gives the first request body it sends. Throws HARNESS_MISSING where pi ends or takes longer than 30 s without one.
 */
export async function capturePiPrompt(pi: PiInstallation, env: NodeJS.ProcessEnv = {}): Promise<PiRequestBody> {
  const scratch = mkdtempSync(join(tmpdir(), 'tackroom-pi-'));
  const { promise: body, resolve, reject } = withResolvers<PiRequestBody>();
  const server = createServer((request, response) => {
    readBody(request).then(
      (text) => {
        response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"captured"}}');
        if (request.method === 'POST') resolve(JSON.parse(text) as PiRequestBody);
      },
      (error: unknown) => reject(error),
    );
  });
  const deadline = setTimeout(() => reject(missing(`sent no request within ${DEADLINE_MS / 1000} s`)), DEADLINE_MS);
  let kill = () => {};
  try {
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    kill = startPi(pi, env, scratch, (server.address() as AddressInfo).port, reject);
    return await body;
  } finally {
    clearTimeout(deadline);
    kill();
    server.closeAllConnections();
    server.close();
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Starts pi in its own process group; returns what ends the group. */
function startPi(
  pi: PiInstallation,
  env: NodeJS.ProcessEnv,
  scratch: string,
  port: number,
  fail: (error: unknown) => void,
): () => void {
  const home = join(scratch, 'home');
  const agent = join(home, 'agent');
  const work = join(scratch, 'work');
  for (const dir of [agent, work]) mkdirSync(dir, { recursive: true });
  const model = { id: 'capture', name: 'Capture', reasoning: false, contextWindow: 32_768, maxTokens: 1024 };
  const provider = {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    api: 'openai-completions',
    apiKey: 'local',
    models: [model],
  };
  writeFileSync(join(agent, 'models.json'), JSON.stringify({ providers: { tackroom: provider } }));
  const child = spawn(
    pi.node,
    [pi.cli, '--model', 'tackroom/capture', '--mode', 'json', '--no-session', '-nc', 'hello'],
    {
      cwd: work,
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: process.platform !== 'win32',
      env: {
        PATH: process.env.PATH,
        HOME: home,
        LANG: 'C.UTF-8',
        PI_CODING_AGENT_DIR: agent,
        PI_OFFLINE: '1',
        PI_TELEMETRY: '0',
        ...env,
      },
    },
  );
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-500);
  });
  child.on('error', (error) => fail(missing(`could not be started (${error.message})`)));
  child.on('exit', (code) =>
    fail(missing(`ended with exit code ${code} before its first request${stderr ? `: ${stderr.trim()}` : ''}`)),
  );
  return () => {
    if (child.pid === undefined || child.exitCode !== null) return;
    try {
      process.kill(process.platform === 'win32' ? child.pid : -child.pid, 'SIGKILL');
    } catch {
      // The group ended between the check and the signal.
    }
  };
}

function missing(what: string): TackroomError {
  return new TackroomError('HARNESS_MISSING', `pi ${what}.`, 'Install it with `node scripts/install-pi.mjs`.');
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw missing(`sent a request of more than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function withResolvers<T>() {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
