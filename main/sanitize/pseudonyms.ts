/** The same value gets the same stand-in through a session; numbers follow the first appearance. */

export interface Entity {
  family: string;
  value: string;
  placeholder: string;
  occurrences: number;
}

const MAX_PER_NET = 254;
const IP_NETS = ['192.0.2', '198.51.100', '203.0.113'];

export class Pseudonyms {
  readonly #byValue = new Map<string, Entity>();
  readonly #last = new Map<string, number>();

  /** Numbers that already stand in the input are not given out again. */
  reserve(text: string): void {
    for (const match of text.matchAll(/REDACTED_([A-Z0-9_]{1,60})_(\d{1,6})|\b(user|person|host)(\d{1,6})\b/g)) {
      const group = match[1] ?? match[3]!;
      this.#last.set(group, Math.max(this.#last.get(group) ?? 0, Number(match[2] ?? match[4])));
    }
  }

  /** The stand-in of `value`; the first family it was seen with stays. */
  of(family: string, value: string): Entity {
    const known = this.#byValue.get(value);
    if (known) return known;
    const entity: Entity = { family, value, placeholder: this.#make(family), occurrences: 0 };
    this.#byValue.set(value, entity);
    return entity;
  }

  entities(): Entity[] {
    return [...this.#byValue.values()];
  }

  #make(family: string): string {
    if (family === 'user') return `user${this.#next('user')}`;
    if (family === 'host') return `host${this.#next('host')}`;
    if (family === 'person') return `person${this.#next('person')}`;
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
    const group = family.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
    return `REDACTED_${group}_${this.#next(group)}`;
  }

  #next(group: string): number {
    const next = (this.#last.get(group) ?? 0) + 1;
    this.#last.set(group, next);
    return next;
  }
}
