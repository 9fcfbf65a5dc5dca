/**
 * The one trainer of the engine process. Each update publishes a frozen copy of the adapter under its own hash: requests
 * that run finish on the version they started with. The last `KEEP` versions stay, older ones go unless registered.
 */
import { mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';
import type { LossOptions, NativeAdapter, NativeModel, NativeTrainer, StepMetrics } from '../../native/addon.js';
import type { AdapterPool } from './adapter-pool.js';
import type { EngineCalls, WireSample } from './protocol.js';

const KEEP = 3;
export const STATE_FILE = 'trainer.state';

export class TrainerSession {
  #adapter: NativeAdapter;
  #trainer: NativeTrainer;
  #versions: string[] = [];

  private constructor(
    private readonly pool: AdapterPool,
    adapter: NativeAdapter,
    trainer: NativeTrainer,
  ) {
    this.#adapter = adapter;
    this.#trainer = trainer;
  }

  static async open(
    model: NativeModel,
    pool: AdapterPool,
    options: EngineCalls['train.open']['params'],
  ): Promise<TrainerSession> {
    const { optimizer, state, ...shape } = options;
    const adapter = model.createAdapter(shape);
    const trainer = model.newTrainer(adapter, optimizer);
    if (state) await trainer.loadState(state);
    return new TrainerSession(pool, adapter, trainer);
  }

  get steps(): number {
    return this.#trainer.steps;
  }

  publish(): string {
    const hash = this.pool.add(this.#adapter.clone());
    if (this.#versions.at(-1) !== hash) this.#versions.push(hash);
    while (this.#versions.length > KEEP) this.pool.drop(this.#versions.shift()!);
    return hash;
  }

  async step(samples: WireSample[], loss: LossOptions, lr: number): Promise<StepMetrics & { hash: string }> {
    const rows = samples.map((s, i) => {
      const n = s.inputIds.length;
      if (n < 2 || s.completionMask?.length !== n || s.oldLogprobs?.length !== n || s.advantage === undefined)
        throw new TackroomError(
          'BAD_ARGUMENT',
          `Training row ${i} needs at least 2 tokens, and mask and log-probabilities of the same length.`,
        );
      return {
        inputIds: Int32Array.from(s.inputIds),
        completionMask: Uint8Array.from(s.completionMask),
        oldLogprobs: Float32Array.from(s.oldLogprobs),
        advantage: s.advantage,
      };
    });
    const metrics = await this.#trainer.step(rows, loss, lr);
    return { ...metrics, hash: this.publish() };
  }

  /** PEFT folder with the trainer's state in it; the folder appears whole or not at all. */
  async save(dir: string, baseModel: string): Promise<{ hash: string; bytes: number }> {
    const temporary = `${dir}.tmp-${process.pid}`;
    rmSync(temporary, { recursive: true, force: true });
    mkdirSync(dirname(dir), { recursive: true });
    await this.#adapter.save(temporary, baseModel);
    await this.#trainer.saveState(join(temporary, STATE_FILE));
    const bytes = statSync(join(temporary, 'adapter_model.safetensors')).size;
    rmSync(dir, { recursive: true, force: true });
    renameSync(temporary, dir);
    return { hash: this.#adapter.hash(), bytes };
  }

  close(): void {
    this.#trainer.free();
  }
}
