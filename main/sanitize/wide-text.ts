/** Text in UTF-16 or UTF-32: nothing would be found in it, so it is refused. */
import { TackroomError } from '../../contract/errors.js';

const SAMPLE = 4096;
/** Share of the bytes at every second place that are zero. */
const MANY = 0.4;

/** `first`: the beginning of the input. Errors: UNSUPPORTED. */
export function refuseWideText(first: Buffer): void {
  const sample = first.subarray(0, SAMPLE);
  const marked = (sample[0] === 0xff && sample[1] === 0xfe) || (sample[0] === 0xfe && sample[1] === 0xff);
  const zeros = [0, 0];
  sample.forEach((byte, at) => {
    if (byte === 0) zeros[at & 1]!++;
  });
  const half = sample.length / 2;
  const uneven = half >= 8 && Math.max(...zeros) > half * MANY && Math.min(...zeros) < half * 0.1;
  if ((marked && Math.max(...zeros) > 0) || uneven)
    throw new TackroomError(
      'UNSUPPORTED',
      'The input is text in UTF-16, in which nothing would be found.',
      'Convert it first: iconv -f UTF-16 -t UTF-8.',
    );
}
