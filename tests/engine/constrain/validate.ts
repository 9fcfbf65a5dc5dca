/** The keywords of JSON Schema that constraints serve, checked on a value; own code, so that it also checks theirs. */
type Schema = Record<string, unknown> | boolean;

export function satisfies(value: unknown, schema: Schema, root: Schema = schema): boolean {
  if (typeof schema === 'boolean') return schema;
  const s = schema as Record<string, never>;
  if (s.$ref !== undefined) {
    const target = String(s.$ref)
      .split('/')
      .slice(1)
      .reduce((at: unknown, part) => (at as Record<string, unknown>)[part], root);
    return satisfies(value, target as Schema, root);
  }
  if (s.anyOf !== undefined && !(s.anyOf as Schema[]).some((one) => satisfies(value, one, root))) return false;
  if (s.const !== undefined && JSON.stringify(value) !== JSON.stringify(s.const)) return false;
  if (s.enum !== undefined && !(s.enum as unknown[]).some((one) => JSON.stringify(one) === JSON.stringify(value)))
    return false;
  const types = s.type === undefined ? null : [s.type].flat();
  if (types && !types.some((type) => isA(value, type as string))) return false;
  if (typeof value === 'string') {
    const length = [...value].length;
    if (length < (s.minLength ?? 0) || length > (s.maxLength ?? Infinity)) return false;
  }
  if (typeof value === 'number') {
    if (value < (s.minimum ?? -Infinity) || value > (s.maximum ?? Infinity)) return false;
    if (value <= (s.exclusiveMinimum ?? -Infinity) || value >= (s.exclusiveMaximum ?? Infinity)) return false;
  }
  if (Array.isArray(value)) {
    if (value.length < (s.minItems ?? 0) || value.length > (s.maxItems ?? Infinity)) return false;
    return value.every((item) => satisfies(item, s.items ?? true, root));
  }
  if (typeof value === 'object' && value !== null) {
    const properties: Record<string, Schema> = s.properties ?? {};
    for (const name of (s.required ?? []) as string[]) if (!Object.hasOwn(value, name)) return false;
    return Object.entries(value).every(([name, member]) =>
      satisfies(member, Object.hasOwn(properties, name) ? properties[name]! : (s.additionalProperties ?? true), root),
    );
  }
  return true;
}

function isA(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    case 'integer':
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}
