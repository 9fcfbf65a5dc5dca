/** A wait with an end. */

/** What `work` gives, or `late()` when it takes longer than `ms`; whatever it does then is not heard. An infinite `ms` waits for ever. */
export async function inTime<T>(work: Promise<T>, ms: number, late: () => T): Promise<T> {
  if (!Number.isFinite(ms)) return work;
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(late()), ms);
  });
  try {
    return await Promise.race([work, end]);
  } finally {
    clearTimeout(timer);
  }
}
