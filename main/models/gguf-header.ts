/**
 * Metadata and tensor infos of a GGUF file (format of ggml, `docs/gguf.md`, versions 2 and 3, little endian); no
 * weights. A file from anywhere may be opened: each count is checked against the bytes that are left before anything
 * is allocated, so a hostile file gives MODEL_CORRUPT and costs at most a few times its own size.
 */
import { TackroomError } from '../../contract/errors.js';
import { FileReader } from './file-reader.js';

export type GgufScalar = number | bigint | boolean | string;
export type GgufNumbers =
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | Float32Array
  | BigUint64Array
  | BigInt64Array
  | Float64Array;
/** Arrays of numbers and of booleans (0, 1) are typed arrays. */
export type GgufValue = GgufScalar | GgufNumbers | string[];

export interface GgufTensorInfo {
  name: string;
  /** Fastest dimension first, as in the file. */
  shape: number[];
  /** ggml type id (0 F32, 1 F16, 2 Q4_0, …). */
  type: number;
  /** Bytes from the start of the file. */
  offset: number;
}

export interface GgufHeader {
  version: number;
  metadata: ReadonlyMap<string, GgufValue>;
  tensors: readonly GgufTensorInfo[];
  /** Where the tensor data begins, in bytes. */
  dataOffset: number;
  fileBytes: number;
}

const MAX_METADATA = 16_384;
const MAX_TENSORS = 32_768;
const MAX_DIMENSIONS = 4;
/** No vocabulary has more tokens. */
const MAX_STRINGS = 2 ** 22;
const MAX_NAME_CHARS = 4_096;
const STRING = 8;
const ARRAY = 9;
/** Bytes of a scalar by type id; strings take at least their length field. */
const VALUE_BYTES: Readonly<Record<number, number>> = {
  0: 1,
  1: 1,
  2: 2,
  3: 2,
  4: 4,
  5: 4,
  6: 4,
  7: 1,
  [STRING]: 8,
  10: 8,
  11: 8,
  12: 8,
};
const NUMBER_ARRAYS = {
  0: Uint8Array,
  1: Int8Array,
  2: Uint16Array,
  3: Int16Array,
  4: Uint32Array,
  5: Int32Array,
  6: Float32Array,
  7: Uint8Array,
  10: BigUint64Array,
  11: BigInt64Array,
  12: Float64Array,
} as const;

/** Throws MODEL_NOT_FOUND, MODEL_CORRUPT, or MODEL_UNSUPPORTED for another version or byte order. */
export function readGgufHeader(path: string): GgufHeader {
  const reader = new FileReader(path);
  try {
    return readHeader(reader);
  } finally {
    reader.close();
  }
}

function readHeader(reader: FileReader): GgufHeader {
  if (reader.size < 24 || reader.bytes(4).toString('latin1') !== 'GGUF') throw reader.corrupt('it is no GGUF file');
  const version = reader.u32();
  if (version !== 2 && version !== 3)
    throw new TackroomError(
      'MODEL_UNSUPPORTED',
      `${reader.path} has GGUF version ${version > 0xffff ? 'of the other byte order' : version}.`,
      'Convert the model again with a current converter (GGUF version 3, little endian).',
    );
  const tensorCount = reader.count('the number of tensors');
  const metadataCount = reader.count('the number of metadata entries');
  // The smallest entry is a length, a type and one byte; the smallest tensor info 24 bytes.
  if (metadataCount > Math.min(MAX_METADATA, reader.left / 13))
    throw reader.corrupt(`it claims ${metadataCount} metadata entries`);
  if (tensorCount > Math.min(MAX_TENSORS, reader.left / 24)) throw reader.corrupt(`it claims ${tensorCount} tensors`);

  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < metadataCount; i++) {
    const key = reader.string('a metadata key');
    if (key === '' || key.length > MAX_NAME_CHARS) throw reader.corrupt('a metadata key has no usable name');
    if (metadata.has(key)) throw reader.corrupt(`it has ${key} twice`);
    metadata.set(key, readValue(reader, key));
  }
  const tensors: GgufTensorInfo[] = [];
  const names = new Set<string>();
  for (let i = 0; i < tensorCount; i++) {
    const tensor = readTensorInfo(reader);
    if (names.has(tensor.name)) throw reader.corrupt(`it has the tensor ${tensor.name} twice`);
    names.add(tensor.name);
    tensors.push(tensor);
  }
  const alignment = metadata.get('general.alignment') ?? 32;
  if (typeof alignment !== 'number' || alignment < 1 || alignment > 1 << 20 || (alignment & (alignment - 1)) !== 0)
    throw reader.corrupt(`its alignment is ${String(alignment)}`);
  const dataOffset = Math.ceil(reader.position / alignment) * alignment;
  for (const tensor of tensors) {
    if (tensor.offset % alignment !== 0) throw reader.corrupt(`the tensor ${tensor.name} is not aligned`);
    tensor.offset += dataOffset;
    if (tensor.offset >= reader.size) throw reader.corrupt(`the tensor ${tensor.name} lies behind the end of the file`);
  }
  return { version, metadata, tensors, dataOffset, fileBytes: reader.size };
}

function readValue(reader: FileReader, key: string): GgufValue {
  const type = reader.u32();
  return type === ARRAY ? readArray(reader, key) : readScalar(reader, type, key);
}

function readScalar(reader: FileReader, type: number, key: string): GgufScalar {
  if (type === STRING) return reader.string(key);
  const size = VALUE_BYTES[type];
  if (size === undefined) throw reader.corrupt(`${key} has the unknown type ${type}`);
  const bytes = reader.bytes(size);
  switch (type) {
    case 0:
      return bytes.readUInt8(0);
    case 1:
      return bytes.readInt8(0);
    case 2:
      return bytes.readUInt16LE(0);
    case 3:
      return bytes.readInt16LE(0);
    case 4:
      return bytes.readUInt32LE(0);
    case 5:
      return bytes.readInt32LE(0);
    case 6:
      return bytes.readFloatLE(0);
    case 7:
      return bytes.readUInt8(0) !== 0;
    case 10:
      return bytes.readBigUInt64LE(0);
    case 11:
      return bytes.readBigInt64LE(0);
    default:
      return bytes.readDoubleLE(0);
  }
}

function readArray(reader: FileReader, key: string): GgufNumbers | string[] {
  const type = reader.u32();
  const size = VALUE_BYTES[type];
  if (size === undefined) throw reader.corrupt(`${key} is an array of the unknown type ${type}`);
  const length = reader.count(`the length of ${key}`);
  if (length > reader.left / size) throw reader.corrupt(`${key} claims ${length} elements`);
  if (type === STRING) {
    if (length > MAX_STRINGS) throw reader.corrupt(`${key} claims ${length} strings`);
    const strings = new Array<string>(length);
    for (let i = 0; i < length; i++) strings[i] = reader.string(key);
    return strings;
  }
  // Copied, so that the array owns aligned memory of its own.
  const bytes = Uint8Array.from(reader.bytes(length * size));
  return new NUMBER_ARRAYS[type as keyof typeof NUMBER_ARRAYS](bytes.buffer);
}

function readTensorInfo(reader: FileReader): GgufTensorInfo {
  const name = reader.string('the name of a tensor');
  if (name === '' || name.length > MAX_NAME_CHARS) throw reader.corrupt('a tensor has no usable name');
  const dimensions = reader.u32();
  if (dimensions < 1 || dimensions > MAX_DIMENSIONS)
    throw reader.corrupt(`the tensor ${name} has ${dimensions} dimensions`);
  const shape: number[] = [];
  let elements = 1;
  for (let i = 0; i < dimensions; i++) {
    const extent = reader.count(`a dimension of ${name}`);
    shape.push(extent);
    elements *= extent;
    // Even one bit an element would not fit into the file.
    if (extent === 0 || elements > reader.size * 8) throw reader.corrupt(`the tensor ${name} cannot be that large`);
  }
  return { name, shape, type: reader.u32(), offset: reader.count(`the offset of ${name}`) };
}
