// One member of a zip file (APPNOTE 6.3: end record, central directory, local header; no zip64, no encryption). A wheel
// is only ever read this way: nothing in it runs.
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw } from 'node:zlib';

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const LOCAL_SIGNATURE = 0x04034b50;
const END_BYTES = 22;
const MAX_COMMENT = 0xffff;
const STORED = 0;
const DEFLATED = 8;

async function read(handle, position, length) {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  if (bytesRead < length) throw new Error('the zip file ends too early');
  return buffer;
}

async function findEntry(handle, size, name) {
  const tail = await read(handle, Math.max(0, size - END_BYTES - MAX_COMMENT), Math.min(size, END_BYTES + MAX_COMMENT));
  let end = tail.length - END_BYTES;
  while (end >= 0 && tail.readUInt32LE(end) !== END_SIGNATURE) end--;
  if (end < 0) throw new Error('it is no zip file');
  const directory = await read(handle, tail.readUInt32LE(end + 16), tail.readUInt32LE(end + 12));
  for (let at = 0; at + 46 <= directory.length && directory.readUInt32LE(at) === ENTRY_SIGNATURE; ) {
    const nameLength = directory.readUInt16LE(at + 28);
    if (directory.toString('utf8', at + 46, at + 46 + nameLength) === name)
      return {
        method: directory.readUInt16LE(at + 10),
        packedBytes: directory.readUInt32LE(at + 20),
        local: directory.readUInt32LE(at + 42),
      };
    at += 46 + nameLength + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  throw new Error(`it has no member ${name}`);
}

/** Writes the unpacked member to `output`, which stays open. */
export async function copyMember(zipFile, name, output) {
  const handle = await open(zipFile, 'r');
  try {
    const { size } = await handle.stat();
    const { method, packedBytes, local } = await findEntry(handle, size, name);
    const header = await read(handle, local, 30);
    if (header.readUInt32LE(0) !== LOCAL_SIGNATURE) throw new Error('its directory points astray');
    if (method !== STORED && method !== DEFLATED) throw new Error(`the member is packed with method ${method}`);
    const start = local + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
    if (packedBytes === 0) return;
    const packed = createReadStream(zipFile, { start, end: start + packedBytes - 1 });
    const stages = method === DEFLATED ? [packed, createInflateRaw(), output] : [packed, output];
    await pipeline(stages, { end: false });
  } finally {
    await handle.close();
  }
}
