/** One session of opencode, message by message, whoever holds them. */
import {
  COMPACTED_QUESTION,
  type OpencodeMessage,
  stepAnswer,
  stepResults,
  stepsOf,
  tokensOf,
  userText,
} from './opencode-messages.js';
import { type ImportedAnswer, type Place, ROOT, type SessionWriter, type Skip } from './session-writer.js';
import { asRecord, asText, asTime } from './values.js';

export interface OpencodeInfo {
  id: string;
  parentId: string | null;
  directory: string | null;
  title: string | null;
  version: string | null;
  created: unknown;
}

export class OpencodeSession {
  #place: Place = ROOT;
  /** Places of each message, for what a compaction keeps. */
  readonly #said: { id: string; places: Place[] }[] = [];
  #compaction: { tailFrom: string | null } | null = null;
  readonly #createdAt: number;

  constructor(
    info: OpencodeInfo,
    private readonly writer: SessionWriter,
    private readonly skip: Skip,
  ) {
    this.#createdAt = asTime(info.created) ?? 0;
    writer.begin({
      harness: 'opencode',
      id: info.id,
      createdAt: this.#createdAt,
      cwd: info.directory,
      harnessVersion: info.version,
      parent: info.parentId === null ? null : { id: info.parentId, kind: 'subagent' },
    });
    writer.describe({ title: info.title ?? '' });
  }

  add(message: OpencodeMessage): void {
    const { role } = message.info;
    if (role === 'user') this.#user(message);
    else if (role === 'assistant' && message.info.summary === true) this.#summary(message);
    else if (role === 'assistant') this.#assistant(message);
    else this.skip(null, `message ${message.id} has an unknown role`);
  }

  #user({ id, parts }: OpencodeMessage): void {
    const compaction = parts.find((part) => part.type === 'compaction');
    if (compaction) this.#compaction = { tailFrom: asText(compaction.tail_start_id) };
    const { text, synthetic } = userText(parts);
    if (compaction || text === '') return;
    this.#place = this.writer.message(this.#place, { role: 'user', content: text }, synthetic ? 'nudge' : undefined);
    this.#said.push({ id, places: [this.#place] });
  }

  /** The text of a compaction that came about takes the place of what was said before. */
  #summary({ info, parts }: OpencodeMessage): void {
    const answer = stepAnswer(parts);
    if (!answer || info.error !== undefined || !this.#compaction) return;
    const { tailFrom } = this.#compaction;
    const kept = tailFrom === null ? -1 : this.#said.findIndex(({ id }) => id === tailFrom);
    const tail = kept < 0 ? [] : this.#said.splice(kept).flatMap(({ places }) => places);
    const question = this.writer.message(ROOT, { role: 'user', content: COMPACTED_QUESTION }, 'summary');
    const summary = this.writer.message(question, { role: 'assistant', content: answer.content ?? '' }, 'summary');
    this.#said.length = 0;
    this.#place = tail.reduce((place, said) => this.writer.again(place, said), summary);
    this.#compaction = null;
  }

  #assistant(message: OpencodeMessage): void {
    const { id, info, parts } = message;
    const failed = info.error !== undefined;
    const steps = stepsOf(parts);
    const before = this.#place;
    const places: Place[] = [];
    for (const [i, step] of (steps.length > 0 ? steps : [[]]).entries()) {
      const last = i === Math.max(steps.length - 1, 0);
      const after = this.writer.request(this.#place, this.#answer(message, step, i, last));
      const said = after.node === this.#place.node ? [] : [after];
      for (const result of stepResults(step)) said.push(this.writer.result(said.at(-1) ?? this.#place, result));
      places.push(...said);
      this.#place = said.at(-1) ?? this.#place;
    }
    this.writer.describe({ model: asText(info.modelID) ?? '' });
    // A failed answer is not sent again; one that was cut off by the user is.
    if (failed && asRecord(info.error).name !== 'MessageAbortedError') this.#place = before;
    else this.#said.push({ id, places });
  }

  #answer({ id, info }: OpencodeMessage, step: OpencodeMessage['parts'], i: number, last: boolean): ImportedAnswer {
    const time = asRecord(info.time);
    const at = asTime(time.created) ?? this.#createdAt;
    const error = asRecord(last ? info.error : undefined);
    const name = asText(error.name);
    const finish = step.find((part) => part.type === 'step-finish');
    return {
      key: i === 0 ? id : `${id}#${i}`,
      at: at + i,
      model: asText(info.modelID) ?? '',
      provider: asText(info.providerID),
      answer: stepAnswer(step),
      finish: asText(finish?.reason) ?? asText(info.finish) ?? '',
      status: name === null ? 'ok' : name === 'MessageAbortedError' ? 'cancelled' : 'error',
      error: name === null ? null : (asText(asRecord(error.data).message) ?? name),
      ...tokensOf(finish?.tokens ?? info.tokens),
      durationMs: Math.max(0, (asTime(time.completed) ?? at) - at),
    };
  }
}
