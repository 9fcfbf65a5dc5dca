/** A gateway process with a home of its own in front of a scripted model server, and harnesses that ask it. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const load = (path) => import(pathToFileURL(join(root, 'dist', path)).href);
const { openStore } = await load('main/store/store.js');
const { installToken } = await load('main/proxy/token.js');

/** A process, once it has printed its first line. */
async function begin(file, args) {
  const child = spawn(process.execPath, [file, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) return { child, line };
  throw new Error(`${file} ended.`);
}

export const TOOL = {
  type: 'function',
  function: { name: 'bash', parameters: { type: 'object', properties: { command: { type: 'string' } } } },
};

export class GatewayRig {
  home = mkdtempSync(join(tmpdir(), 'tackroom-soak-'));
  token = installToken(this.home);
  port = 0;
  /** Milliseconds each start took. */
  starts = [];
  #gateway;
  #upstream;

  /** `pieces` of an answer, one every `everyMs`, then a tool call. */
  async open(pieces, everyMs) {
    this.#upstream = await begin(join(root, 'tests', 'bench', 'proxy', 'upstream.mjs'), [
      String(pieces),
      String(everyMs),
    ]);
    const store = openStore(this.home);
    store.setSetting('upstreams', { pi: { baseUrl: `http://127.0.0.1:${this.#upstream.line}/v1` } });
    store.close();
    await this.start();
  }

  async start() {
    const began = performance.now();
    this.#gateway = await begin(join(root, 'dist', 'main/proxy/entry.js'), [
      '--home',
      this.home,
      '--socket',
      join(this.home, 'g.sock'),
      '--engine',
      join(this.home, 'none.sock'),
      '--port',
      String(this.port),
    ]);
    this.port = JSON.parse(this.#gateway.line).port;
    this.starts.push(performance.now() - began);
  }

  async end(signal) {
    const gone = new Promise((resolve) => this.#gateway.child.once('exit', resolve));
    this.#gateway.child.kill(signal);
    await gone;
  }

  /** Resident memory of the gateway now and at its highest, MB (Linux). */
  memory() {
    const status = readFileSync(`/proc/${this.#gateway.child.pid}/status`, 'utf8');
    const field = (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)[1]) / 1024;
    return { now: field('VmRSS'), highest: field('VmHWM') };
  }

  /** Asks as session `name`; `onData` gets what came so far. Resolves with the whole text; a connection that breaks ends it. */
  ask(name, body, { agent, onData } = {}) {
    return new Promise((resolve) => {
      let text = '';
      const asked = request(
        {
          host: '127.0.0.1',
          port: this.port,
          agent,
          method: 'POST',
          path: '/pi/v1/chat/completions',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${this.token}`, 'x-session-id': name },
        },
        (response) => {
          response.on('data', (data) => {
            text = onData?.(text, data) ?? text + data;
          });
          response.once('error', () => resolve(text));
          response.once('close', () => resolve(text));
        },
      );
      asked.once('error', () => resolve(text));
      asked.end(body);
    });
  }

  /** Ends both processes and opens what they left. */
  async store() {
    await this.end('SIGTERM');
    this.#upstream.child.kill();
    return openStore(this.home);
  }

  remove() {
    rmSync(this.home, { recursive: true, force: true });
  }
}
