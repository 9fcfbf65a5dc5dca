/** Stand-ins that the input holds already: their numbers are not given out again. */
import { AnchorFlag } from '../scan/layout.js';
import { type Anchored, type Detector, matchAt } from './text-view.js';

const STAND_IN =
  /REDACTED_([A-Z0-9_]{1,60})_(\d{1,6})|(user|person|host)(\d{1,6})(?![A-Za-z0-9])|2001:db8::([0-9a-f]{1,4})(?![0-9a-f:])|02:00:00:00:00:([0-9a-f]{2})|\+1-555-01(\d\d)|(192\.0\.2|198\.51\.100|203\.0\.113)\.(\d{1,3})|0{8}-0000-0000-0000-(\d{12})/y;
const NETS: Record<string, number> = { '192.0.2': 0, '198.51.100': 1, '203.0.113': 2 };

const standIn: Detector = ({ text, reserve }, at) => {
  const match = matchAt(STAND_IN, text, at);
  if (!match) return;
  const [, group, number, name, of, ipv6, mac, phone, net, ip, account] = match;
  if (group) reserve(group, Number(number));
  else if (name) reserve(name, Number(of));
  else if (ipv6) reserve('ipv6', Number.parseInt(ipv6, 16));
  else if (mac) reserve('mac', Number.parseInt(mac, 16));
  else if (phone) reserve('phone', Number(phone));
  else if (net) reserve('ip', NETS[net]! * 254 + Number(ip));
  else if (account) reserve('account', Number(account));
};

const numbered = ['user', 'person', 'host'].flatMap((name) =>
  Array.from({ length: 9 }, (_, digit) => `${name}${digit + 1}`),
);
export const STAND_INS: Anchored[] = [
  {
    anchors: [
      'REDACTED_',
      '2001:db8::',
      '02:00:00:00:00:',
      '+1-555-01',
      '192.0.2.',
      '198.51.100.',
      '203.0.113.',
      '00000000-0000-0000-0000-',
      ...numbered,
    ].join(' '),
    flags: AnchorFlag.start | AnchorFlag.exactCase,
    detector: standIn,
  },
];
