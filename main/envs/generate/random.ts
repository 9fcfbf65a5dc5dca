/**
 * Seeded random numbers: sfc32 (Chris Doty-Humphrey, PractRand) with its 128-bit state hashed from a string.
 * The same seed gives the same numbers on every machine; nothing here is fit for secrets.
 */
const WARM_UP_ROUNDS = 15;

/** 32-bit FNV-1a of `text` from a start value, finished with the murmur3 mixer. */
function hash32(text: string, start: number): number {
  let h = start >>> 0;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

export class Rng {
  private a: number;
  private b: number;
  private c: number;
  private counter = 1;

  constructor(seed: string) {
    this.a = hash32(seed, 0x811c9dc5);
    this.b = hash32(seed, 0x9e3779b9);
    this.c = hash32(seed, 0x7f4a7c15);
    for (let i = 0; i < WARM_UP_ROUNDS; i++) this.next();
  }

  /** Uniform in [0, 1). */
  next(): number {
    const sum = (this.a + this.b + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (((this.c << 21) | (this.c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 4294967296;
  }

  /** Uniform integer, both ends included. */
  int(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** One element; the list must not be empty. */
  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)] as T;
  }

  /** A shuffled copy (Fisher-Yates). */
  shuffled<T>(list: readonly T[]): T[] {
    const copy = [...list];
    for (let i = copy.length - 1; i > 0; i--) {
      const j = this.int(0, i);
      [copy[i], copy[j]] = [copy[j] as T, copy[i] as T];
    }
    return copy;
  }
}
