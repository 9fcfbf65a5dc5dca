/** A change of /etc/hosts that sends a name to a public address, or to one that the call does not show. */
import type { Rule } from './rules.js';

const ADDRESS =
  /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])|(?<![\w:])(?:[0-9a-f]{1,4}:){2,7}(?::|[0-9a-f]{1,4})|::1\b/gi;
const PRIVATE = /^(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|169\.254\.|0\.|255\.|::1$|fe[89ab]|f[cd]|ff0)/i;

export const hostsFile: Rule = {
  id: 'network.isolation_bypass',
  find(surface) {
    for (const { path, content } of surface.writes) {
      if (path !== '/etc/hosts' && path !== '/etc/resolv.conf') continue;
      const texts = content === null ? [...surface.commands, ...surface.code] : [content];
      const addresses = texts.flatMap((text) => text.slice(0, 20_000).match(ADDRESS) ?? []);
      const shown = addresses.length > 0 || (content !== null && content.trim() !== '');
      if (!shown || addresses.some((address) => !PRIVATE.test(address)))
        return {
          rule: this.id,
          severity: 'high',
          reason: 'it rewrites the name resolution with an address that is public or not shown',
        };
    }
    return null;
  },
};
