import { expect, it } from 'vitest';
import { MAX_EVENT_BYTES, SseReader } from '../../main/proxy/relay/sse-reader.js';

const STREAM = Buffer.from(
  '\ufeffevent: a\r\ndata: {"x":"ä€😀"}\r\n\r\n: comment\n\ndata: one\ndata:two\n\n\n\ndata\n\nid: 3\rdata: cr\r\rdata: [DONE]\n\n',
);
const DATA = ['{"x":"ä€😀"}', null, 'one\ntwo', null, null, '', 'cr', '[DONE]'];

function read(pieces: Buffer[]): { data: (string | null)[]; bytes: Buffer } {
  const reader = new SseReader();
  const events = [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()];
  return { data: events.map((event) => event.data), bytes: Buffer.concat(events.map((event) => event.raw)) };
}

it('gives the same events and every byte, wherever the stream is cut', () => {
  const whole = read([STREAM]);
  expect(whole.data.filter((data) => data !== null)).toEqual(DATA.filter((data) => data !== null));
  for (let at = 0; at <= STREAM.length; at++) {
    const cut = read([STREAM.subarray(0, at), STREAM.subarray(at)]);
    expect(cut.data).toEqual(whole.data);
    expect(cut.bytes.equals(STREAM)).toBe(true);
  }
  expect(read([...STREAM].map((byte) => Buffer.of(byte))).bytes.equals(STREAM)).toBe(true);
});

it('takes an event whose empty line is missing, and drops what holds no data', () => {
  expect(read([Buffer.from('data: a\n\ndata: [DONE]')]).data).toEqual(['a', '[DONE]']);
  expect(read([Buffer.from('data: a\n\n# cut')]).data).toEqual(['a']);
});

it('takes a long event in many pieces without looking at its bytes again and again', () => {
  const piece = Buffer.alloc(1000, 0x61);
  const reader = new SseReader();
  reader.push(Buffer.from('data: '));
  for (let i = 0; i < 2000; i++) expect(reader.push(piece)).toEqual([]);
  expect(reader.push(Buffer.from('\n\n'))[0]?.data).toHaveLength(2_000_000);
});

it('gives up on an event that never ends', () => {
  const reader = new SseReader();
  const piece = Buffer.alloc(16 * 1024 * 1024, 0x61);
  expect(() => {
    for (let bytes = 0; bytes <= MAX_EVENT_BYTES; bytes += piece.length) reader.push(piece);
  }).toThrow('larger than 64 MB');
});
