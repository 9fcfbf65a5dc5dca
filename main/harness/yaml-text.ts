/**
 * YAML: edited in place where its form allows it, else printed from its document, in which comments, order and quoting
 * stay and spacing may be made even.
 */
import { type Document, isAlias, isMap, isNode, parseDocument } from 'yaml';
import { type ConfigPath, type ConfigSyntax, isObject, type JsonObject, type JsonValue } from './config-text.js';
import { editYaml } from './yaml-edit.js';

const BOM = '\uFEFF';

function documentOf(text: string): Document {
  const document = parseDocument(text, { uniqueKeys: true, merge: false });
  const error = document.errors[0];
  if (error) throw error;
  return document;
}

/** Spaces before the first nested key, and whether lists are indented below theirs. */
function styleOf(text: string): { indent: number; indentSeq: boolean } {
  const indent =
    /^[^\s#-][^\n]*:[^\S\n]*(?:#[^\n]*)?\n(?:[^\S\n]*(?:#[^\n]*)?\n)*( +)[^\s#-]/m.exec(text)?.[1]?.length ?? 2;
  return { indent, indentSeq: !/^[^\s#-][^\n]*:[^\S\n]*\n- /m.test(text) };
}

/** A change behind an alias would be one wherever it is used. */
function refuseAlias(document: Document, path: ConfigPath): void {
  for (let depth = 1; depth <= path.length; depth++)
    if (isAlias(document.getIn(path.slice(0, depth), true))) throw new Error('An alias is in the way.');
}

function inPlace(text: string, path: ConfigPath, value: JsonValue | undefined): string {
  const document = documentOf(text);
  refuseAlias(document, path);
  return editYaml(text, document, path, value, styleOf(text).indent);
}

function printedAnew(text: string, path: ConfigPath, value: JsonValue | undefined): string {
  const document = documentOf(text);
  refuseAlias(document, path);
  if (value === undefined) document.deleteIn(path);
  else {
    const above = path.slice(0, -1);
    const parent = document.getIn(above, true);
    if (above.length > 0 && (parent === undefined || (isNode(parent) && !isMap(parent) && parent.toJSON() === null)))
      document.setIn(above, document.createNode({}));
    document.setIn(path, value);
  }
  const printed = document.toString({ lineWidth: 0, flowCollectionPadding: true, ...styleOf(text) });
  const mark = text.startsWith(BOM) && !printed.startsWith(BOM) ? BOM : '';
  return mark + (text.includes('\r\n') ? printed.replace(/\r?\n/g, '\r\n') : printed);
}

export const yamlText: ConfigSyntax = {
  name: 'YAML',
  parse(text: string): JsonObject {
    // JSON has no undefined, dates or maps with other keys than strings; what is none of it is compared as its text.
    const value: unknown = JSON.parse(JSON.stringify(documentOf(text).toJS({ maxAliasCount: 100 }) ?? {}));
    if (!isObject(value)) throw new Error('It is not an object.');
    return value;
  },
  edits: [inPlace, printedAnew],
};
