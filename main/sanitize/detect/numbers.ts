/** Addresses, cards, accounts and phones: values told by their digits. */
import { ibanValid, luhn } from '../checksums.js';
import { AnchorFlag } from '../scan/layout.js';
import { add } from './people.js';
import { type Anchored, CHAR, type Detector, isChar, matchAt } from './text-view.js';

const IPV4 = /(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}(?![\w-]|\.\d)/y;
/** Unspecified, loopback, documentation, multicast, link-local metadata, masks, well-known resolvers, Docker's defaults. */
const SAFE_IP =
  /^(?:0|127|255|22[4-9]|23\d)\.|^192\.0\.2\.|^198\.51\.100\.|^203\.0\.113\.|^169\.254\.169\.254$|^169\.254\.170\.2$|^(?:1\.1\.1\.1|1\.0\.0\.1|8\.8\.8\.8|8\.8\.4\.4|9\.9\.9\.9|208\.67\.22[02]\.22[02])$|\.0\.0(?:\.0)?$|^172\.17\.0\.|^10\.0\.[02]\.|^192\.168\.[01]\.1$|^1\.2\.3\.4$/;
const VERSION_BEFORE =
  /(?:version|release|assembly|(?<![A-Za-z])(?:ver|v|build|sdk|section)|==|>=|<=|~>|\^|build|sdk|chrome\/|safari\/|firefox\/|edg\/|oid|section|firmware|driver|fileversion|revision|figure|table|chapter|§|\.)["'(:=@ ]{0,4}$/i;

const NAMED_BEFORE = /[A-Za-z][\w.-]{1,50}[ \t]{1,8}$/;
const ADDRESS_BEFORE =
  /(?:ip|ipv4|host|server|nameserver|addr|address|inet|from|to|via|at|ping|ssh|telnet|nc|dig|src|dst|dest|peer|client|remote|gateway|gw|dns|curl|node|bind|listen|on|of|is)[ \t]{1,8}$/i;

export const ipv4: Detector = (view, at) => {
  const match = matchAt(IPV4, view.text, at);
  if (!match || isChar(view.text, at - 1, CHAR.name)) return;
  const ip = match[0];
  if (SAFE_IP.test(ip) || VERSION_BEFORE.test(view.text.slice(Math.max(0, at - 24), at))) return;
  // Four small numbers behind a name are its version.
  const small = ip.split('.').every((part) => Number(part) < 32);
  if (
    small &&
    NAMED_BEFORE.test(view.text.slice(Math.max(0, at - 60), at)) &&
    !ADDRESS_BEFORE.test(view.text.slice(Math.max(0, at - 60), at))
  )
    return;
  add(view, at, ip, 'ip');
};

const IPV6 = /[0-9A-Fa-f]{0,4}(?::{1,2}[0-9A-Fa-f]{1,4}){2,7}/y;
export const ipv6: Detector = (view, at) => {
  const match = matchAt(IPV6, view.text, at);
  if (!match || isChar(view.text, at - 1, CHAR.name) || view.text[at - 1] === ':') return;
  const ip = match[0].toLowerCase();
  if (/^(?:2001:0?db8:|fe80::1$|ff0|::1$|::ffff:127|64:ff9b)/.test(ip) || !/[a-f]|::/.test(ip)) return;
  if (!/^(?:2|3|f[cde])[0-9a-f]{1,3}:/.test(ip)) return;
  add(view, at, match[0], 'ipv6');
};

const MAC = /[0-9A-Fa-f]{2}(?:([:-])[0-9A-Fa-f]{2})(?:\1[0-9A-Fa-f]{2}){4}(?![0-9A-Fa-f:-])/y;
export const mac: Detector = (view, at) => {
  const match = matchAt(MAC, view.text, at);
  if (!match || /[\w:-]/.test(view.text[at - 1] ?? '')) return;
  if (
    /^(?:00[:-]){5}|^(?:ff[:-]){5}|^02[:-]00[:-]00|^(?:aa[:-]bb[:-]cc|de[:-]ad[:-]be[:-]ef|01[:-]23[:-]45|11[:-]22[:-]33|00[:-]11[:-]22[:-]33)/i.test(
      match[0],
    )
  )
    return;
  add(view, at, match[0], 'mac');
};

const PHONE = /\+\d{1,3}(?:[ ./-]?\(?\d{1,4}\)?){2,6}(?![\w.]\d|\w)/y;
export const phone: Detector = (view, at) => {
  const match = matchAt(PHONE, view.text, at);
  if (!match || /[\w+.)]/.test(view.text[at - 1] ?? '')) return;
  const digits = match[0].replace(/\D/g, '');
  if (
    digits.length < 9 ||
    digits.length > 15 ||
    /^\+1[ .-]?\(?555|^\+1[ .-]?\(?\d{3}\)?[ .-]?555[ .-]?01\d\d$|^\+(\d)\1{6}|^\+1234567/.test(match[0])
  )
    return;
  // A difference or a time zone without separators is a number, not a phone.
  if (
    !/[ .()-]/.test(match[0]) &&
    digits.length < 11 &&
    !/["':=]$/.test(view.text.slice(Math.max(0, at - 1), at)) &&
    at > 0
  )
    return;
  add(view, at, match[0], 'phone');
};

const CARD = /[2-6]\d{3}(?:[ -]?\d{4}){2}[ -]?\d{1,7}(?![\w.-])|3[47]\d{2}[ -]?\d{6}[ -]?\d{5}(?![\w.-])/y;
/** Numbers that the processors publish for tests. */
const TEST_CARD =
  /^(?:4242|4111|4000|4012888|4222|5555|5105|2223|3782|3714|3787|6011|3056|3622|3852|3530|3566|6200|4917)/;
const CARD_WORD = /(?:card|pan|cc|visa|mastercard|amex|number|ccn)[\w-]{0,12}["'`\s:=>,|(#]{1,8}$/i;
const NATIONAL = /(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])/y;
const LOCAL_PHONE = /(?:\(\d{2,5}\)[ ]?|0\d{1,4}[ ./-])?\d{2,5}[ .-]\d{2,5}(?:[ .-]\d{2,5}){0,3}(?![\w.-])/y;
const PHONE_WORD =
  /(?:phone|tel|mobile|cell|fax|whatsapp|call me|ring me|contact number)[\w .-]{0,16}["'`\s:=>,|(]{1,8}$/i;

export const digits: Detector = (view, at) => {
  const { text } = view;
  if (/[\w.+-]/.test(text[at - 1] ?? '') || /0x$/i.test(text.slice(Math.max(0, at - 2), at))) return;
  const card = matchAt(CARD, text, at);
  const before = text.slice(Math.max(0, at - 32), at);
  const fieldOfCard = /card|pan$|cc_?n|^number$|account_?number/i.test(view.key) && at < 4;
  if (card) {
    const plain = card[0].replace(/\D/g, '');
    if (
      plain.length >= 13 &&
      plain.length <= 19 &&
      luhn(plain) &&
      !TEST_CARD.test(plain) &&
      !/^(\d)\1+$/.test(plain) &&
      (/[ -]/.test(card[0]) || CARD_WORD.test(before) || fieldOfCard)
    ) {
      add(view, at, card[0], 'card');
      return;
    }
  }
  const national = matchAt(NATIONAL, text, at);
  if (national && !/^(?:123-45-6789|078-05-1120|219-09-9999)$/.test(national[0])) {
    add(view, at, national[0], 'ssn');
    return;
  }
  if (!PHONE_WORD.test(before) && !(at < 3 && /phone|mobile|fax|^tel/i.test(view.key))) return;
  const open = text[at - 1] === '(' ? at - 1 : at;
  const local = matchAt(LOCAL_PHONE, text, open);
  if (local && !/555[ .-]?01\d\d$|^555/.test(local[0]) && local[0].replace(/\D/g, '').length >= 9)
    add(view, open, local[0], 'phone');
};

const IBAN = /[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?(?![A-Za-z0-9])/y;
export const iban: Detector = (view, at) => {
  if (isChar(view.text, at - 1, CHAR.word)) return;
  const match = matchAt(IBAN, view.text, at);
  if (!match) return;
  const plain = match[0].replace(/[ -]/g, '');
  if (plain.length >= 15 && plain.length <= 34 && ibanValid(plain)) add(view, at, match[0], 'iban');
};

const SID = /S-1-5-21-(\d{6,10}-\d{6,10}-\d{6,10})(?:-\d{3,7})?\b/y;
const sid: Detector = (view, at) => {
  const match = matchAt(SID, view.text, at);
  if (match) add(view, at, `S-1-5-21-${match[1]!}`, 'windows-sid');
};

export const NUMBERS: Anchored[] = [
  { anchors: 'S-1-5-21-', flags: AnchorFlag.start | AnchorFlag.exactCase, detector: sid },
];
