/** A command to type, selected whole with one click. */
export function Command({ text }: { text: string }) {
  return <code className="command">{text}</code>;
}
