/** llama.cpp's own programs as sides of a contest. Flash attention on and off; `chrt` is the caller's choice. */
import { llamaProgram } from '../../../../scripts/peers/paths.mjs';
import { output } from '../process.mjs';

/** Best sample of each test of a llama-bench run: { [metric]: { value, setting } }. */
async function llamaBench(args, { policy, metricOf }) {
  const printed = await output(llamaProgram('llama-bench'), [...args, '-o', 'json'], { policy });
  const best = {};
  for (const test of JSON.parse(printed)) {
    const metric = metricOf(test);
    const value = Math.max(...test.samples_ts);
    const flash = Number(test.flash_attn) > 0 || test.flash_attn === true ? 'on' : 'off';
    if (!best[metric] || best[metric].value < value)
      best[metric] = { value, setting: `flash ${flash}, ${test.n_threads} threads` };
  }
  return best;
}

/** decode1: `steps` tokens after `prompt` tokens, by the given number of threads and by one. */
export const benchDecode = (model, { policy, threads, prompt, steps, repeats }) => ({
  name: `llama-bench (${policy})`,
  run: () =>
    llamaBench(
      ['-m', model, '-p', '0', '-n', steps, '-d', prompt, '-t', `${threads},1`, '-fa', '0,1', '-r', repeats].map(
        String,
      ),
      { policy, metricOf: () => 'decode1' },
    ),
});

/** prefill512, prefill2048 */
export const benchPrefill = (model, { policy, threads, lengths, repeats }) => ({
  name: `llama-bench (${policy})`,
  run: () =>
    llamaBench(
      ['-m', model, '-p', lengths.join(','), '-n', '0', '-t', threads, '-fa', '0,1', '-r', repeats].map(String),
      {
        policy,
        metricOf: (test) => `prefill${test.n_prompt}`,
      },
    ),
});

/** decode1, decode8: total tokens per second of that many sequences. */
export const batchedDecode = (model, { policy, threads, prompt, steps, flash }) => ({
  name: `llama-batched-bench (${policy})`,
  async run() {
    const args = ['-m', model, '-npp', prompt, '-ntg', steps, '-npl', '1,8', '-c', 8 * (prompt + steps), '-t', threads];
    args.push('-fa', flash ? 'on' : 'off', '--output-format', 'jsonl');
    const printed = await output(llamaProgram('llama-batched-bench'), args.map(String), { policy });
    const result = {};
    for (const line of printed.split('\n').filter((text) => text.startsWith('{'))) {
      const test = JSON.parse(line);
      result[`decode${test.pl}`] = {
        value: test.speed_tg,
        setting: `flash ${flash ? 'on' : 'off'}, ${threads} threads`,
      };
    }
    return result;
  },
});
