/** Where the outcome through the gateway is another one than directly: which, and why. Everything else is the same. */
import { expect } from 'vitest';
import type { HarnessName } from '../../../main/harness/connector.js';
import type { Api } from '../../../main/proxy/dialects/dialect.js';
import type { Aspect } from './compare.js';
import type { Outcome } from './outcome.js';

export interface Exception {
  /** `saved`: the harness would fail or never end. `guarded`: the guard stops a call. `worded`: a failure in our words. */
  kind: 'saved' | 'guarded' | 'worded';
  why: string;
  /** The respects in which it may differ. */
  differs: readonly Aspect[];
  /** Directly; absent: not looked at. */
  direct?: Partial<Outcome>;
  proxied: Partial<Outcome>;
}

const DONE = 'All of it is done.';
const WHOLE: Partial<Outcome> = { ended: 'exit', code: 0, failure: '' };
const LOOPS: Partial<Outcome> = { ended: 'loop' };
/** Of an outcome that fails directly and is good through the gateway. */
const BETTER: readonly Aspect[] = ['ended', 'code', 'answer', 'failure', 'requests', 'conversation'];
const containing = (text: string): string => expect.stringContaining(text) as string;

const worded = (why: string, failure: string): Exception => ({
  kind: 'worded',
  why,
  differs: ['failure'],
  proxied: { ended: 'exit', failure: containing(failure) },
});
/** hermes tells its failures as the answer. */
const hermesWords = (why: string, words: string): Exception => ({
  kind: 'worded',
  why,
  differs: ['answer', 'failure', 'requests', 'conversation'],
  proxied: { ended: 'exit', answer: containing(words) },
});
const guarded = (
  why: string,
  differs: readonly Aspect[] = ['answer', 'failure', 'requests', 'conversation'],
): Exception => ({
  kind: 'guarded',
  why,
  differs,
  proxied: { ended: 'exit', answer: containing('[tackroom] blocked call') },
});
const saved = (why: string, proxied: Partial<Outcome>, direct?: Partial<Outcome>): Exception => ({
  kind: 'saved',
  why,
  differs: BETTER,
  ...(direct && { direct }),
  proxied: { ...WHOLE, ...proxied },
});

const NO_FINISH = 'ended the stream without a finish reason';
const NOT_AN_ANSWER = 'not an answer of the model';
const UNREADABLE: Exception = {
  kind: 'guarded',
  why: 'Arguments that cannot be read cannot be judged: the harness gets others that cannot be read either.',
  differs: ['conversation'],
  proxied: { ended: 'exit', code: 0 },
};
const UNIQUE_IDS: Exception = {
  kind: 'saved',
  why: 'Every call gets an id of its own, so every result finds its call.',
  differs: ['conversation'],
  proxied: { ...WHOLE, answer: DONE },
};
const DOCUMENT = saved('A document becomes the stream that was asked for.', { answer: 'A plain document.' });
const STOPS = (answer: string): Exception =>
  saved('A reason to stop that no harness knows becomes one that it does.', { answer });

/** By scenario, for every harness that has no entry of its own. */
const EVERYWHERE: Record<string, Exception> = {
  'HTML instead of a stream': worded('A page is no answer: 502.', NOT_AN_ANSWER),
  'an error in the stream': worded('The words of the server stand behind ours.', 'The scripted server failed.'),
  'an error in the stream once': worded('The words of the server stand behind ours.', 'The scripted server failed.'),
  'an event that is no JSON': worded('It is not handed on.', NOT_AN_ANSWER),
  'an event that is no JSON once': worded('It is not handed on.', NOT_AN_ANSWER),
  breaks: worded('The gateway says what broke behind it.', 'Connection error: the upstream server did not answer'),
  'hangs up before an answer': worded('A 502.', 'Connection error: the upstream server did not answer'),
  'ends early': worded('The stream ends with an error event.', NO_FINISH),
  'no finish reason': worded('The stream ends with an error event.', NO_FINISH),
  'JSON instead of a stream': DOCUMENT,
  'a call without id': { ...UNIQUE_IDS },
  'an id used before': UNIQUE_IDS,
  'an unknown finish reason': STOPS('It is over.'),
  'an unknown tool': guarded('Stage one of the guard: no tool that the harness did not declare.'),
  'arguments cut off': UNREADABLE,
  'arguments that are no JSON': UNREADABLE,
  'a call cut by length': UNREADABLE,
  'a host that nobody named': guarded('Stage one of the guard: no host that nobody named.'),
};

const RETRIES: Partial<Outcome> = { ended: 'exit', code: 1, failure: containing(NO_FINISH) };
const ASKS_AGAIN = 'What came of the half answer is no part of the conversation; it is asked for again instead.';

const HALF = 'It would take half answers for whole ones.';
const HALF_FAILS: Partial<Outcome> = { answer: '', failure: containing('remained truncated') };

const OWN: Record<string, Exception> = {
  'opencode a call without id': saved('It fails on a call without id.', { answer: DONE }, { code: 1 }),
  'opencode an unknown finish reason': saved('It would ask for ever.', { answer: 'It is over.' }, LOOPS),
  'opencode tool_calls without calls': saved('It would ask for ever.', { answer: 'nothing' }, LOOPS),
  'opencode no finish reason': saved('It would go on with the half answer for ever.', RETRIES, LOOPS),
  'opencode ends early (responses)': saved(
    'It would go on with the half answer for ever.',
    { code: 1, failure: containing('Server error') },
    LOOPS,
  ),
  'opencode HTML instead of a stream': saved(
    'It would ask for ever.',
    { code: 1, failure: containing(NOT_AN_ANSWER) },
    LOOPS,
  ),
  'opencode ends early': saved('It would go on with the half answer for ever.', RETRIES, LOOPS),
  'opencode no finish reason once': saved(ASKS_AGAIN, { answer: containing(DONE) }),
  'opencode ends early once': saved(ASKS_AGAIN, { answer: containing(DONE) }),
  'opencode breaks inside a call once': saved('Half a call is not handed on, nor its failure sent back.', {
    answer: DONE,
  }),

  'hermes an id used before': saved('It would lose the results and call until its limit of turns.', { answer: DONE }),
  'hermes no finish reason once': saved(ASKS_AGAIN, { answer: DONE }),
  'hermes no finish reason': saved(HALF, HALF_FAILS),
  'hermes ends early': saved(HALF, HALF_FAILS),
  'hermes ends early (responses)': saved(HALF, { code: 1, failure: '', answer: containing(NO_FINISH) }, { code: 0 }),
  'hermes ends early (messages)': saved(
    HALF,
    { code: 1, failure: '', answer: containing('Invalid API response after 3 retries') },
    { code: 0 },
  ),
  'hermes ends early once': saved(ASKS_AGAIN, { answer: DONE }),
  'hermes HTML instead of a stream': hermesWords('After a 502 it does not try another connection.', NOT_AN_ANSWER),
  'hermes hangs up before an answer': hermesWords(
    'After a 502 it does not try another connection.',
    'Connection error',
  ),
};

export const exceptionFor = (harness: HarnessName, api: Api, scenario: string): Exception | undefined =>
  OWN[`${harness} ${scenario} (${api})`] ?? OWN[`${harness} ${scenario}`] ?? EVERYWHERE[scenario];
