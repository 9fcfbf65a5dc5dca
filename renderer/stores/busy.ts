/** A change that the user asked for: `busy` while it is under way; what goes wrong is told. */
import { tellError } from './notices.js';

/** True when it was done. */
export async function whileBusy(
  set: (part: { busy: boolean }) => void,
  work: () => Promise<unknown>,
): Promise<boolean> {
  set({ busy: true });
  try {
    await work();
    return true;
  } catch (error) {
    tellError(error);
    return false;
  } finally {
    set({ busy: false });
  }
}
