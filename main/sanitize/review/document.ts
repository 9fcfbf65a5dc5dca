/** A session's document as the records that the sanitizer looks at one by one, as `cleanDocument` does. */
type Document = Record<string, unknown>;

/** What stands around the steps, then each step. */
export function* linesOf(document: Document): Generator<Buffer> {
  yield Buffer.from(JSON.stringify({ ...document, steps: [] }));
  for (const step of document.steps as unknown[]) yield Buffer.from(JSON.stringify(step));
}
