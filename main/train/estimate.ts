/** Time left, from the median of what each kind of work took so far. */
export class Estimate {
  #taken = new Map<string, number[]>();

  add(kind: string, ms: number): void {
    const list = this.#taken.get(kind) ?? [];
    list.push(ms);
    if (list.length > 15) list.shift();
    this.#taken.set(kind, list);
  }

  /** null until every kind that is still to do was seen once. */
  total(left: Record<string, number>): number | null {
    let sum = 0;
    for (const [kind, n] of Object.entries(left)) {
      if (n <= 0) continue;
      const taken = this.#taken.get(kind);
      if (!taken) return null;
      sum += n * [...taken].sort((a, b) => a - b)[Math.floor(taken.length / 2)]!;
    }
    return sum;
  }
}
