import { TackroomError } from '../../contract/errors.js';

/** `work`, or DEADLINE after `ms`. Unlike a call's own timeout it also covers the wait for a connection. */
export async function withDeadline<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TackroomError('DEADLINE', `${what} did not answer within ${ms} ms.`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
