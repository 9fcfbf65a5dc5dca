/**
 * Images that stand for others: one pixel of the same format in base64, so that a record stays one that programs load and servers
 * take. Its number follows the image's end, where decoders look at nothing; in base64 it is text that reads as a stand-in.
 */

const PIXEL = {
  png: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
  jpeg: '/9j/2wBDAAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQH/wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AP//Z',
  gif: 'R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7',
  webp: 'UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA',
};
type Format = keyof typeof PIXEL;

/** Runs of base64 that are shorter hold a pixel or two; ours are. */
export const SHORTEST_IMAGE = 300;

/** `value`: the image in base64. */
export function standInImage(value: string, number: number): string {
  const pixel = Buffer.from(PIXEL[formatOf(value)], 'base64').toString('latin1');
  const text = `${pixel} REDACTED_IMAGE_${number} `;
  // No padding: base64 of whole triples.
  return Buffer.from(text + ' '.repeat((3 - (text.length % 3)) % 3), 'latin1').toString('base64');
}

/** The number of one of ours, null: of another. */
export function numberOfImage(value: string): number | null {
  const match = / REDACTED_IMAGE_(\d{1,6}) {1,3}$/.exec(Buffer.from(value, 'base64').toString('latin1'));
  return match ? Number(match[1]) : null;
}

function formatOf(value: string): Format {
  if (value.startsWith('/9j/')) return 'jpeg';
  if (value.startsWith('R0lGOD')) return 'gif';
  return value.startsWith('UklGR') ? 'webp' : 'png';
}
