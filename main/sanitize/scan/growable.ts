/** Arrays that grow; contents may move, so hold offsets and not views. */

export class Bytes {
  bytes = new Uint8Array(1 << 16);
  length = 0;

  /** Makes room for `count` more. */
  reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.length + count));
    grown.set(this.bytes.subarray(0, this.length));
    this.bytes = grown;
  }
}

export class Ints {
  values = new Int32Array(1 << 10);
  length = 0;

  /** Room for `count` numbers at the end; their first index. */
  push(count: number): number {
    const at = this.length;
    if (at + count > this.values.length) {
      const grown = new Int32Array(Math.max(this.values.length * 2, at + count));
      grown.set(this.values.subarray(0, at));
      this.values = grown;
    }
    this.length += count;
    return at;
  }
}
