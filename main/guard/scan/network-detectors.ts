/** URLs and web tools of a trace. */
import { isLocalHost, urlHosts } from '../hosts.js';
import { hostsFile } from '../hosts-file.js';
import { callPlace, type Detection, type Detector, detection, type Evidence, placeOf } from './detection.js';
import type { Trace } from './trace.js';

const READ = new Set(['command', 'path', 'url', 'query', 'arguments']);
const PRIVATE = /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|f[cd][0-9a-f]{2}:|fe80:)/i;

function urls(trace: Trace): { external: Evidence[]; local: Evidence[] } {
  const out = { external: [] as Evidence[], local: [] as Evidence[] };
  for (const piece of trace.authored) {
    if (!READ.has(piece.channel)) continue;
    const hosts = [...urlHosts(piece.text.slice(0, 400_000))];
    if (hosts.some((host) => !isLocalHost(host) && !PRIVATE.test(host))) out.external.push(placeOf(piece));
    else if (hosts.length > 0) out.local.push(placeOf(piece));
  }
  return out;
}

export const NETWORK_DETECTORS: Record<string, Detector> = {
  'network.external_url': (trace) => detection(urls(trace).external),
  'network.local_only_url': (trace) => {
    const { external, local } = urls(trace);
    return detection(external.length > 0 ? [] : local);
  },
  'network.web_search': (trace) =>
    detection(
      trace.calls.filter(({ name, web }) => web && /search|google|bing|tavily|brave/i.test(name)).map(callPlace),
    ),
};

/** A rewritten /etc/hosts belongs to `network.isolation_bypass` as well. */
export function withHostsFile(trace: Trace, patterns: Detection): Detection {
  const input = { harness: 'unknown' as const, profile: 'training' as const, request: { messages: [] }, toolCalls: [] };
  const rewritten = trace.calls.filter((call) => hostsFile.find(call.surface, input) !== null).map(callPlace);
  return rewritten.length === 0 ? patterns : detection([...patterns.evidence, ...rewritten]);
}
