/** The same value gets the same stand-in through a session; numbers follow the first appearance. */
import { standInImage } from './stand-in-image.js';

export interface Entity {
  family: string;
  value: string;
  /** '' until `number` was called. */
  placeholder: string;
  occurrences: number;
}

/** The rest of a value that came in pieces: nothing stands for it. */
export const CONTINUED = 'continued';
/** What a server encrypted: programs leave out an empty one. */
const SIGNATURE = 'signature';
/** Lists of token ids and log-probabilities: an empty list stays. */
export const TOKENS = 'token-ids';
const SLUG = 'user-slug';
const MAX_PER_NET = 254;
const IP_NETS = ['192.0.2', '198.51.100', '203.0.113'];
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export class Pseudonyms {
  readonly #byValue = new Map<string, number>();
  readonly #entities: Entity[] = [];
  readonly #last = new Map<string, number>();
  readonly #taken = new Map<string, Set<number>>();
  #numbered = 0;
  #standIns = { bytes: Buffer.alloc(4096), starts: new Int32Array(256), count: 0 };

  /** `number` of `group` stands in the input already and is not given out. */
  reserve(group: string, number: number): void {
    let taken = this.#taken.get(group);
    if (!taken) {
      taken = new Set();
      this.#taken.set(group, taken);
    }
    if (taken.size < 100_000) taken.add(number);
  }

  /** Number of the entity; the first family it was seen with stays. */
  of(family: string, value: string): number {
    const slug = family === SLUG;
    // A folder's name made from a path is another spelling: it has its own stand-in, made from that of the account.
    if (slug) this.of('user', value);
    const key = slug || value === '' ? `${family}\0${value}` : value;
    let index = this.#byValue.get(key);
    if (index === undefined) {
      index = this.#entities.length;
      this.#entities.push({ family, value, placeholder: '', occurrences: 0 });
      this.#byValue.set(key, index);
    }
    return index;
  }

  /** Gives stand-ins to all that have none, once the input's own numbers are known. */
  number(): void {
    for (; this.#numbered < this.#entities.length; this.#numbered++) {
      const entity = this.#entities[this.#numbered]!;
      entity.placeholder = this.#make(entity);
    }
  }

  entity(index: number): Entity {
    return this.#entities[index]!;
  }

  entities(): readonly Entity[] {
    return this.#entities;
  }

  /** One after the other, and where each begins: those that have a number. */
  standIns(): { bytes: Uint8Array; starts: Int32Array } {
    const table = this.#standIns;
    for (; table.count < this.#numbered; table.count++) {
      const { placeholder } = this.#entities[table.count]!;
      const start = table.starts[table.count]!;
      if (start + placeholder.length > table.bytes.length) {
        const larger = Buffer.alloc((start + placeholder.length) * 2);
        table.bytes.copy(larger);
        table.bytes = larger;
      }
      if (table.count + 1 === table.starts.length) {
        const more = new Int32Array(table.starts.length * 2);
        more.set(table.starts);
        table.starts = more;
      }
      table.starts[table.count + 1] = start + table.bytes.write(placeholder, start, 'latin1');
    }
    return { bytes: table.bytes, starts: table.starts.subarray(0, table.count + 1) };
  }

  #make({ family, value }: Entity): string {
    if (family === CONTINUED || family === SIGNATURE || family === TOKENS) return '';
    if (family === 'image') return standInImage(value, this.#next('IMAGE'));
    if (family === SLUG) return `${this.entity(this.of('user', value)).placeholder}slug`;
    if (family === 'user' || family === 'host' || family === 'person') return `${family}${this.#next(family)}`;
    if (family === 'email') return `person${this.#next('person')}@example.com`;
    if (family === 'phone') {
      const n = this.#next('phone');
      if (n < 100) return `+1-555-01${String(n).padStart(2, '0')}`;
    }
    if (family === 'mac') {
      const n = this.#next('mac');
      if (n < 256) return `02:00:00:00:00:${n.toString(16).padStart(2, '0')}`;
    }
    if (family === 'ip') {
      const n = this.#next('ip') - 1;
      const net = IP_NETS[Math.floor(n / MAX_PER_NET)];
      if (net) return `${net}.${(n % MAX_PER_NET) + 1}`;
    }
    if (family === 'ipv6') {
      const n = this.#next('ipv6');
      if (n < 0x10000) return `2001:db8::${n.toString(16)}`;
    }
    if (family === 'account-id') {
      const n = this.#next('account');
      if (UUID.test(value)) return `00000000-0000-0000-0000-${String(n).padStart(12, '0')}`;
      if (/^\d{12}$/.test(value)) return String(n).padStart(12, '0');
    }
    const group = family.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
    return `REDACTED_${group}_${this.#next(group)}`;
  }

  #next(group: string): number {
    const taken = this.#taken.get(group);
    let next = (this.#last.get(group) ?? 0) + 1;
    while (taken?.has(next)) next++;
    this.#last.set(group, next);
    return next;
  }
}
