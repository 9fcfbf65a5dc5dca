/** What the scheduler needs of a constraint on the tokens of one answer. */
export interface TokenConstraint {
  /** Bits of the tokens that may come next (SampleOptions.allowed). Throws UNSUPPORTED when none can. */
  allowed(): Uint32Array;
  /** After each sampled token, end tokens left out. */
  accept(token: number): void;
}
