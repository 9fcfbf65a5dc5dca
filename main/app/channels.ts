/** Names shared by the shell's two halves, the main process and the preload script. No I/O: both import it. */

/** The window's only origin. A scheme of its own: no port to find, no `file://` privileges. */
export const APP_SCHEME = 'app';
export const APP_HOST = 'tackroom';
export const APP_ORIGIN = `${APP_SCHEME}://${APP_HOST}`;

/** Window -> main: `(name, input)`, answered with a `Reply`. */
export const CALL_CHANNEL = 'tackroom:call';
/** Main -> window: an `EventMessage`. */
export const EVENT_CHANNEL = 'tackroom:event';
