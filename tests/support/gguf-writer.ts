/** Writes GGUF files for tests (version 3, little endian). */
export type GgufWritable =
  | string
  | boolean
  | { u32: number }
  | { f32: number }
  | { strings: readonly string[] }
  | { i32s: readonly number[] }
  | { f32s: readonly number[] };

export interface GgufSource {
  metadata: Readonly<Record<string, GgufWritable>>;
  tensors?: readonly { name: string; shape: readonly number[]; type: number; data: Uint8Array }[];
}

const ALIGNMENT = 32;

function u32(value: number): Buffer {
  const out = Buffer.alloc(4);
  out.writeUInt32LE(value);
  return out;
}
function u64(value: number): Buffer {
  const out = Buffer.alloc(8);
  out.writeBigUInt64LE(BigInt(value));
  return out;
}
function f32(value: number): Buffer {
  const out = Buffer.alloc(4);
  out.writeFloatLE(value);
  return out;
}
function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'utf8');
  return Buffer.concat([u64(bytes.length), bytes]);
}

function value(item: GgufWritable): Buffer {
  if (typeof item === 'string') return Buffer.concat([u32(8), text(item)]);
  if (typeof item === 'boolean') return Buffer.concat([u32(7), Buffer.of(item ? 1 : 0)]);
  if ('u32' in item) return Buffer.concat([u32(4), u32(item.u32)]);
  if ('f32' in item) return Buffer.concat([u32(6), f32(item.f32)]);
  const array = (type: number, items: Buffer[]) => Buffer.concat([u32(9), u32(type), u64(items.length), ...items]);
  if ('strings' in item) return array(8, item.strings.map(text));
  if ('i32s' in item)
    return array(
      5,
      item.i32s.map((n) => u32(n >>> 0)),
    );
  return array(6, item.f32s.map(f32));
}

export function writeGguf({ metadata, tensors = [] }: GgufSource): Buffer {
  const entries = Object.entries(metadata);
  const parts = [Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(entries.length)];
  for (const [key, item] of entries) parts.push(text(key), value(item));
  let offset = 0;
  for (const { name, shape, type, data } of tensors) {
    parts.push(text(name), u32(shape.length), ...shape.map(u64), u32(type), u64(offset));
    offset = Math.ceil((offset + data.length) / ALIGNMENT) * ALIGNMENT;
  }
  const pad = (bytes: Buffer) =>
    Buffer.concat([bytes, Buffer.alloc((ALIGNMENT - (bytes.length % ALIGNMENT)) % ALIGNMENT)]);
  return Buffer.concat([pad(Buffer.concat(parts)), ...tensors.map(({ data }) => pad(Buffer.from(data)))]);
}
