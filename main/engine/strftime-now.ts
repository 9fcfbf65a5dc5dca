/** `strftime_now` of Transformers: the current local time as Python's `strftime` writes it in the C locale. */
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];

const two = (value: number) => String(value).padStart(2, '0');

const FIELDS: Readonly<Record<string, (now: Date) => string>> = {
  Y: (now) => String(now.getFullYear()),
  y: (now) => two(now.getFullYear() % 100),
  m: (now) => two(now.getMonth() + 1),
  B: (now) => MONTHS[now.getMonth()]!,
  b: (now) => MONTHS[now.getMonth()]!.slice(0, 3),
  d: (now) => two(now.getDate()),
  A: (now) => DAYS[now.getDay()]!,
  a: (now) => DAYS[now.getDay()]!.slice(0, 3),
  H: (now) => two(now.getHours()),
  I: (now) => two(now.getHours() % 12 || 12),
  p: (now) => (now.getHours() < 12 ? 'AM' : 'PM'),
  M: (now) => two(now.getMinutes()),
  S: (now) => two(now.getSeconds()),
  '%': () => '%',
};

/** Directives that are not known stay as they are. */
export function strftimeNow(format: unknown, now = new Date()): string {
  return String(format).replace(/%(.)/g, (directive, letter: string) =>
    Object.hasOwn(FIELDS, letter) ? FIELDS[letter]!(now) : directive,
  );
}
