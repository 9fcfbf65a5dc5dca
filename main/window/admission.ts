/**
 * Who may talk to the window server. It listens on loopback, yet any page the user visits can reach loopback too, so:
 * the Host must be ours (against DNS rebinding), the Origin must be ours (against other pages), and the caller must
 * know the per-install token, or hold the cookie made from it.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

export class Admission {
  readonly #token: string;
  readonly #cookieValue: string;
  readonly #cookieName: string;

  /** Cookies do not know ports: the port is part of the name, and the value is of no use as a token. */
  constructor(
    token: string,
    private readonly port: number,
  ) {
    this.#token = token;
    this.#cookieName = `tackroom_${port}`;
    this.#cookieValue = createHmac('sha256', token).update('tackroom window cookie').digest('base64url');
  }

  hostAllowed(request: IncomingMessage): boolean {
    const host = (request.headers.host ?? '').toLowerCase();
    return LOOPBACK.some((name) => host === `${name}:${this.port}`);
  }

  /** The Origin must be the page this very server served. */
  originAllowed(request: IncomingMessage): boolean {
    return (
      this.hostAllowed(request) && request.headers.origin === `http://${(request.headers.host ?? '').toLowerCase()}`
    );
  }

  tokenAllowed(request: IncomingMessage): boolean {
    const header = request.headers.authorization ?? '';
    return header.startsWith('Bearer ') && same(header.slice(7), this.#token);
  }

  cookieAllowed(request: IncomingMessage): boolean {
    for (const pair of (request.headers.cookie ?? '').split(';')) {
      const at = pair.indexOf('=');
      if (pair.slice(0, at).trim() === this.#cookieName && same(pair.slice(at + 1).trim(), this.#cookieValue))
        return true;
    }
    return false;
  }

  /** Set-Cookie header: unreadable for scripts, never sent with requests of other sites. */
  setCookie(): string {
    return `${this.#cookieName}=${this.#cookieValue}; HttpOnly; SameSite=Strict; Path=/`;
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
const same = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
