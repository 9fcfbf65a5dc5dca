/**
 * The guard of a running gateway. Sessions of the user are judged by what the store says at that moment: profile, plugins, judge,
 * allowances. Rollouts are judged by the rules that ship and the profile that they name, so that a run can be repeated; plugins look at
 * them only where the user says so.
 */
import type { GuardSettings } from '../../contract/guard.js';
import type { Origin } from '../../contract/records.js';
import type { Store } from '../store/store.js';
import { AllowanceStore } from './allowance-store.js';
import type { Allowance } from './allowances.js';
import { checkWithPlugins } from './check-with-plugins.js';
import { blockedNotice, checkResponse } from './guard.js';
import { harmlessCall } from './harmless-call.js';
import { InstalledPlugins } from './installed-plugins.js';
import { judgeSuspicious } from './judge.js';
import { type AskModel, askServer, modelJudge } from './model-judge.js';
import { GuardSettingsReader } from './settings.js';
import type { CallVerdict, GuardInput, SampledCall } from './types.js';

/** How long modules may hold an answer: they are started, and asked about each of its calls. */
export const MODULES_MS = 12_000;

/** A verdict, and the call that the harness gets in place of a blocked one. */
export interface ServedVerdict extends CallVerdict {
  instead?: SampledCall;
}

export class LiveGuard {
  readonly #settings: GuardSettingsReader;
  readonly #allowances: AllowanceStore;
  readonly #plugins = new InstalledPlugins();

  /** `askEngine`: a judge on the built-in engine. */
  constructor(
    store: Store,
    private readonly askEngine: AskModel,
    private readonly modulesMs = MODULES_MS,
  ) {
    this.#settings = new GuardSettingsReader(store);
    this.#allowances = new AllowanceStore(store);
  }

  /** Throws IO where the settings cannot be read. Without plugins and a judge it answers at once. */
  checkResponse(asked: GuardInput & { origin: Origin }): ServedVerdict[] | Promise<ServedVerdict[]> {
    const { origin, ...input } = asked;
    const settings = this.#settings.read();
    if (origin !== 'user')
      return settings.pluginsInRollouts && settings.plugins.length > 0
        ? this.#withPlugins(input, settings, [])
        : checkResponse(input);
    const own = { ...input, profile: settings.profile };
    const allowances = this.#allowances.list();
    if (settings.plugins.length === 0 && settings.judge === null)
      return served(own, checkResponse(own, { allowances }), settings);
    return this.#thoroughly(own, settings, allowances);
  }

  /** Ends the plugins' processes. */
  close(): void {
    this.#plugins.stop();
  }

  async #thoroughly(
    input: GuardInput,
    settings: GuardSettings,
    allowances: readonly Allowance[],
  ): Promise<ServedVerdict[]> {
    const verdicts =
      settings.plugins.length > 0
        ? await this.#withPlugins(input, settings, allowances)
        : checkResponse(input, { allowances });
    const { judge } = settings;
    if (judge === null) return served(input, verdicts, settings);
    const ask = judge.baseUrl === null ? this.askEngine : askServer;
    return served(input, await judgeSuspicious(input, verdicts, modelJudge(judge, ask)), settings);
  }

  async #withPlugins(
    input: GuardInput,
    { plugins }: GuardSettings,
    allowances: readonly Allowance[],
  ): Promise<CallVerdict[]> {
    return checkWithPlugins(input, await this.#plugins.load(plugins), allowances, this.modulesMs);
  }
}

function served(input: GuardInput, verdicts: CallVerdict[], { blocked }: GuardSettings): ServedVerdict[] {
  if (blocked === 'notice') return verdicts;
  return verdicts.map((verdict, at) => {
    const call = input.toolCalls[at];
    if (verdict.verdict !== 'block' || !call) return verdict;
    const instead = harmlessCall(call, input.request.tools ?? [], blockedNotice(call.name, verdict.reason));
    return instead === null ? verdict : { ...verdict, instead };
  });
}
