/** JSON and JSON with comments (JSONC), edited in place. */
import jsonc from 'jsonc-parser';
import type { ConfigSyntax, JsonObject } from './config-text.js';
import { editJson } from './json-edit.js';

const BOM = '\uFEFF';
const bare = (text: string): string => (text.startsWith(BOM) ? text.slice(1) : text);
const orEmpty = (text: string): string => (text.trim() === '' ? '{}\n' : text);

/** A key that is named twice means one thing to the editor and another to the harness. */
function refuseTwins(node: jsonc.Node): void {
  const keys = new Set<unknown>();
  for (const child of node.children ?? []) {
    if (node.type === 'object') {
      const key: unknown = child.children?.[0]?.value;
      if (keys.has(key)) throw new Error(`The key ${String(key)} is there twice.`);
      keys.add(key);
    }
    if (child.type !== 'string') refuseTwins(child);
  }
}

/** Throws for what is not one object. */
function treeOf(body: string): jsonc.Node {
  const errors: jsonc.ParseError[] = [];
  const tree = jsonc.parseTree(body, errors, { allowTrailingComma: true });
  if (tree?.type !== 'object' || errors.length > 0) throw new Error('It is not a JSON object.');
  return tree;
}

export const jsonText: ConfigSyntax = {
  name: 'JSON',
  parse(text: string): JsonObject {
    const tree = treeOf(orEmpty(bare(text)));
    refuseTwins(tree);
    // The parser's objects have no prototype; a comparison would tell them from others.
    return JSON.parse(JSON.stringify(jsonc.getNodeValue(tree))) as JsonObject;
  },
  edits: [
    (text, path, value) => {
      const body = orEmpty(bare(text));
      return (text.startsWith(BOM) ? BOM : '') + editJson(body, treeOf(body), path, value);
    },
  ],
};
