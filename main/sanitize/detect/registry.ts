/** All detectors by the number that the scan gives their anchors, and the tables of the scan. */
import { FIRST_LITERAL, Probe, type Tables } from '../scan/layout.js';
import { type Anchor, buildTables } from '../scan/tables.js';
import { ASKING } from './asking-commands.js';
import { BLOCKS } from './blocks.js';
import { COMMANDS } from './commands.js';
import { ELIDED } from './elided.js';
import { FIELDS_OF_PERSONS, personField } from './fields.js';
import { fieldValue, KEY_VALUES } from './key-values.js';
import { digits, iban, ipv4, ipv6, mac, NUMBERS, phone } from './numbers.js';
import { OPAQUE } from './opaque.js';
import { PEOPLE } from './people.js';
import { PLACES } from './places.js';
import { STAND_INS } from './stand-ins.js';
import type { Anchored, Detector } from './text-view.js';
import { hexTriple, TOKENS } from './tokens.js';
import { URLS } from './urls.js';

const ALL: readonly Anchored[] = [
  ...STAND_INS,
  ...TOKENS,
  ...BLOCKS,
  ...KEY_VALUES,
  ...URLS,
  ...PEOPLE,
  ...NUMBERS,
  ...COMMANDS,
  ...PLACES,
  ...FIELDS_OF_PERSONS,
  ...OPAQUE,
  ...ELIDED,
  ...ASKING,
];

export interface Registry {
  tables: Tables;
  detectors: Detector[];
  /** Values, a character a byte, that stay wherever they are found: the user's own rules. */
  keep?: ReadonlySet<string>;
}

/** The detectors of the program and those of the user's rules. */
export function register(more: readonly Anchored[] = []): Registry {
  const anchors: Anchor[] = [];
  const detectors: Detector[] = [];
  detectors[Probe.keyValue] = fieldValue;
  detectors[Probe.keyPerson] = personField;
  detectors[Probe.ipv4] = ipv4;
  detectors[Probe.ipv6] = ipv6;
  detectors[Probe.mac] = mac;
  detectors[Probe.phone] = phone;
  detectors[Probe.digits] = digits;
  detectors[Probe.iban] = iban;
  detectors[Probe.hexTriple] = hexTriple;
  for (const { anchors: list, flags, detector } of [...ALL, ...more])
    for (const word of list.split(' ')) {
      if (word === '') continue;
      detectors[FIRST_LITERAL + anchors.length] = detector;
      anchors.push({ literal: word.replaceAll('\u2423', ' '), flags });
    }
  return { tables: buildTables(anchors), detectors };
}

export const STANDARD: Registry = register();
