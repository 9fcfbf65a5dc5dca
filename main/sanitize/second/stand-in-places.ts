/** Whether something that was found is part of a stand-in, which is no leak however it reads. */

export const STAND_IN_SOURCE = [
  String.raw`REDACTED_[A-Z0-9_]+_\d+`,
  String.raw`(?:user|person|host)\d+(?:slug|@example\.com)?`,
  String.raw`192\.0\.2\.\d{1,3}|198\.51\.100\.\d{1,3}|203\.0\.113\.\d{1,3}`,
  '2001:db8::[0-9a-f]{1,4}|02:00:00:00:00:[0-9a-f]{2}',
  String.raw`\+1-555-01\d\d|0{8}-0000-0000-0000-\d{12}|0{6}\d{6}`,
].join('|');
const STAND_IN = new RegExp(STAND_IN_SOURCE, 'g');
/** Stand-ins are shorter. */
const REACH = 96;

export const holdsStandIn = (text: string): boolean => text.search(STAND_IN) >= 0;

/** Whether `bytes[start..end)` lies within one. */
export function insideStandIn(bytes: Buffer, start: number, end: number): boolean {
  const from = Math.max(0, start - REACH);
  for (const match of bytes.toString('latin1', from, end + REACH).matchAll(STAND_IN))
    if (from + match.index <= start && from + match.index + match[0].length >= end) return true;
  return false;
}
