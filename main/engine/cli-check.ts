/** `tackroom engine check`: whether a model, and an adapter, are whole and compute what they should on this machine. */
import { toErrorShape } from '../../contract/errors.js';
import type { ComputePath, NativeAdapter, NativeModel, PrecisionName } from '../../native/addon.js';
import { type Check, formatChecks } from '../cli/doctor/check.js';
import type { CommandIo } from '../cli/io.js';
import { Progress } from '../cli/progress.js';
import { type EngineOptions, openModel, precisionOf } from './cli-model.js';
import {
  agreement,
  batchGap,
  checkTemplate,
  checkTokenizer,
  type Finding,
  firstStep,
  firstStepKl,
  type SampledText,
  sampleIds,
  sampleText,
  samplingGap,
  servingFinding,
} from './model-checks.js';
import type { OpenedCodec } from './open-codec.js';

type Opened<T> = [T, Finding];

/** Runs checks one by one; one that throws has failed, and says why. After an abort none is run. */
class CheckList {
  readonly checks: Check[] = [];
  constructor(
    private readonly progress: Progress,
    private readonly signal: AbortSignal,
  ) {}

  async run(id: string, title: string, body: () => Finding | Promise<Finding>): Promise<void> {
    await this.get(id, title, async () => [undefined, await body()]);
  }

  /** A check that opens something; undefined when it could not. */
  async get<T>(id: string, title: string, body: () => Opened<T> | Promise<Opened<T>>): Promise<T | undefined> {
    if (this.signal.aborted) return undefined;
    this.progress.status(title);
    let value: T | undefined;
    let finding: Finding;
    try {
      [value, finding] = await body();
    } catch (error) {
      const { message, hint } = toErrorShape(error);
      finding = { status: 'failed', detail: message, hint };
    }
    this.checks.push({ id, title, ...finding, hint: finding.hint ?? '' });
    return value;
  }
}

export async function checkCommand(options: EngineOptions & { json?: boolean }, io: CommandIo): Promise<number> {
  precisionOf(options);
  const progress = new Progress(io);
  const list = new CheckList(progress, io.signal);
  const precision = await checkAll(list, options);
  progress.clear();
  if (io.signal.aborted) {
    io.stderr.write('Stopped before all checks were done.\n');
    return 130;
  }
  const { checks } = list;
  const ok = checks.every(({ status }) => status !== 'failed');
  const report = { model: options.model, adapter: options.adapter ?? null, precision, ok, checks };
  io.stdout.write(options.json ? `${JSON.stringify(report)}\n` : formatChecks(checks));
  return ok ? 0 : 1;
}

/** The precision the model is served in; null when it does not load, and then nothing else is looked at. */
async function checkAll(list: CheckList, options: EngineOptions): Promise<PrecisionName | null> {
  const model = await list.get<NativeModel>('model', 'Model files', async () => {
    const loaded = (await openModel({ ...options, adapter: undefined })).model;
    const { architecture, parameters, quantisation } = loaded.info;
    const what = `${architecture}, ${parameters.toLocaleString('en')} parameters, ${quantisation}`;
    return [loaded, { status: 'ok', detail: `${what}: every tensor has its place, every value is a number` }];
  });
  if (!model) return null;
  const opened = await list.get('tokenizer', 'Tokenizer', () => checkTokenizer(options.model, model.info.vocabSize));
  if (opened) await list.run('template', 'Chat template', () => checkTemplate(opened));
  const adapter =
    options.adapter === undefined
      ? null
      : await list.get<NativeAdapter>('adapter', 'Adapter', async () => {
          const loaded = await model.loadAdapter(options.adapter!);
          const { rank, alpha } = loaded;
          return [loaded, { status: 'ok', detail: `rank ${rank}, alpha ${alpha}, ${loaded.hash().slice(0, 12)}` }];
        });
  if (adapter !== undefined) await checkNumbers(list, model, adapter, opened ?? null);
  const { servingPrecision } = model.info;
  model.free();
  return servingPrecision;
}

async function checkNumbers(
  list: CheckList,
  model: NativeModel,
  adapter: NativeAdapter | null,
  opened: OpenedCodec | null,
): Promise<void> {
  const prompt = sampleIds(model, opened);
  const text = await list.get<SampledText>('paths', 'Sampling and scoring', async () => {
    const sampled = await sampleText(model, adapter, prompt);
    return [sampled, agreement(await samplingGap(model, adapter, sampled))];
  });
  if (text)
    await list.run('training', 'First training step', async () => firstStep(await firstStepKl(model, adapter, text)));
  const { servingPrecision, trainingPrecision } = model.info;
  const batch = async (path: ComputePath) => agreement(await batchGap(model, adapter, prompt, path));
  await list.run('batch', 'Alone and in a batch', () => batch('serving'));
  if (servingPrecision === trainingPrecision) return;
  await list.run('batch_training', `The same in ${trainingPrecision}`, () => batch('training'));
  if (opened) await list.run('serving', `Serving in ${servingPrecision}`, () => servingFinding(model, opened));
}
