/** Our gateway as the process that users run, before the scripted model server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UPSTREAMS_SETTING } from '../../../main/proxy/upstream-setting.js';
import { openStore } from '../../../main/store/store.js';
import { type Bundle, bundle } from '../../record/bundle.js';

export class GatewayProcess {
  readonly home = mkdtempSync(join(tmpdir(), 'tackroom-gateway-'));
  #bundle: Bundle | undefined;
  #child: ChildProcess | undefined;
  port = 0;
  token = '';

  /** `modelServer`: origin of the server that plays the model. */
  async start(modelServer: string): Promise<void> {
    const store = openStore(this.home);
    const route = { baseUrl: `${modelServer}/v1` };
    store.setSetting(UPSTREAMS_SETTING, { pi: route, opencode: route, hermes: route });
    store.close();
    this.#bundle = await bundle(
      'main/proxy/entry.ts',
      'main/proxy/settle/thread.ts',
      'main/proxy/settle/upkeep-thread.ts',
    );
    const at = (name: string): string => join(this.home, name);
    const args = ['--home', this.home, '--socket', at('gateway.sock'), '--engine', at('none.sock')];
    const child = spawn(process.execPath, [this.#bundle.file, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child = child;
    this.port = await new Promise<number>((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`the gateway ended with code ${code}`)));
      let text = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (text.includes('\n')) resolve((JSON.parse(text.split('\n')[0]!) as { port: number }).port);
      });
    });
    this.token = readFileSync(at('token'), 'utf8').trim();
  }

  /** Whether it has lived all along. */
  get alive(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child && this.alive) {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await gone;
    }
    this.#bundle?.remove();
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}
