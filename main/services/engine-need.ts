/** Whether anybody is answered by the built-in engine: a gateway that was started at login goes without one where nobody is. */
import { connectedTo } from '../harness/connected.js';
import { HARNESS_NAMES, type Whose } from '../harness/connector.js';
import { routesOf } from '../proxy/set-route.js';
import type { Store } from '../store/store.js';

const LOOK_MS = 5_000;

/** Those whose settings call `port`, or all where none do yet. */
export function engineNeeded(store: Store, port: number, whose: Whose = { env: process.env }): boolean {
  const routes = routesOf(store);
  const connected = connectedTo(port, whose);
  return (connected.length > 0 ? connected : HARNESS_NAMES).some((name) => routes[name] === undefined);
}

/** Calls `start` once, as soon as it is needed; returns the function that ends the looking. */
export function startWhenNeeded(needed: () => boolean, start: () => void): () => void {
  const look = (): void => {
    if (!needed()) return;
    clearInterval(timer);
    start();
  };
  const timer = setInterval(look, LOOK_MS);
  timer.unref();
  look();
  return () => clearInterval(timer);
}
