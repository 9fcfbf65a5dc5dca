/**
 * Conversations as a tree of content-addressed messages. A message is stored once under sha256(canonical JSON); a *node*
 * is sha256(parent node + message hash), so a node names a whole conversation and a request only stores its leaf.
 * What a turn adds to the disk is what the turn added to the conversation.
 */
import type { ChatMessage, ToolDefinition } from '../engine/protocol.js';
import { type Database, prepared, type Statement } from '../store/database.js';
import { canonicalJson, sha256 } from './hash.js';

export interface ChainLink {
  node: string;
  message: string;
  role: string;
  body: string;
}

export interface PathLink {
  node: string;
  message: string;
  /** 0 at the root. */
  depth: number;
}

/** The link of a message that was hashed before, and what it came after. Nobody changes a message. */
const LINKS = new WeakMap<ChatMessage, { parent: string; link: ChainLink }>();

/** The chain of a conversation, root first; nothing is stored. Messages that are the same objects as in an earlier one cost nothing. */
export function chainOf(messages: readonly ChatMessage[]): ChainLink[] {
  let parent = '';
  return messages.map((message) => {
    const known = LINKS.get(message);
    const link = known?.parent === parent ? known.link : linkAfter(parent, message, known?.link);
    if (link !== known?.link) LINKS.set(message, { parent, link });
    parent = link.node;
    return link;
  });
}

function linkAfter(parent: string, message: ChatMessage, known: ChainLink | undefined): ChainLink {
  const body = known?.body ?? canonicalJson(message);
  const hash = known?.message ?? sha256(body);
  return { node: nodeHash(parent, hash), message: hash, role: message.role, body };
}

export function nodeHash(parent: string, message: string): string {
  return sha256(parent + message);
}

export class MessageStore {
  readonly #insertMessage: Statement;
  readonly #insertNode: Statement;

  constructor(private readonly db: Database) {
    this.#insertMessage = db.prepare('INSERT OR IGNORE INTO message (hash, role, body) VALUES (?, ?, ?)');
    this.#insertNode = db.prepare(
      'INSERT OR IGNORE INTO message_node (hash, parent, message, depth) VALUES (?, ?, ?, ?)',
    );
  }

  /** Stores what is new of `chain` and returns its leaf. A stored node has stored ancestors. */
  putChain(chain: readonly ChainLink[]): string {
    const known = prepared(this.db, 'SELECT 1 FROM message_node WHERE hash = ?');
    let first = chain.length;
    while (first > 0 && !known.get(chain[first - 1]!.node)) first--;
    for (let i = first; i < chain.length; i++) this.#putLink(chain[i]!, chain[i - 1]?.node ?? null, i);
    return chain.at(-1)?.node ?? '';
  }

  /** Stores an answer below the prompt it answers; returns the hash of the message. */
  putAnswer(promptNode: string, promptLength: number, answer: ChatMessage): string {
    const body = canonicalJson(answer);
    const message = sha256(body);
    const node = nodeHash(promptNode, message);
    this.#putLink({ node, message, role: answer.role, body }, promptNode, promptLength);
    return message;
  }

  /** Stores a message after `parent` (empty: the first), of which `length` messages are the conversation. */
  putAfter(parent: string, length: number, message: ChatMessage): { node: string; message: string } {
    const body = canonicalJson(message);
    const hash = sha256(body);
    const node = nodeHash(parent, hash);
    this.#putLink({ node, message: hash, role: message.role, body }, parent || null, length);
    return { node, message: hash };
  }

  /** The same for a message that is stored. */
  append(parent: string, length: number, message: string): string {
    const node = nodeHash(parent, message);
    this.#putNode(node, parent || null, message, length);
    return node;
  }

  putTools(tools: readonly ToolDefinition[]): string {
    const body = canonicalJson(tools);
    const hash = sha256(body);
    prepared(this.db, 'INSERT OR IGNORE INTO tools (hash, body) VALUES (?, ?)').run(hash, body);
    return hash;
  }

  message(hash: string): ChatMessage | undefined {
    const row = prepared(this.db, 'SELECT body FROM message WHERE hash = ?').get(hash) as { body: string } | undefined;
    return row && (JSON.parse(row.body) as ChatMessage);
  }

  tools(hash: string): ToolDefinition[] | undefined {
    const row = prepared(this.db, 'SELECT body FROM tools WHERE hash = ?').get(hash) as { body: string } | undefined;
    return row && (JSON.parse(row.body) as ToolDefinition[]);
  }

  /** Nodes from the root to `node`; with `after`, only those below it when it lies on the way. */
  path(node: string, after = ''): PathLink[] {
    return this.db
      .prepare(
        `WITH RECURSIVE up(hash, parent, message, depth) AS (
           SELECT hash, parent, message, depth FROM message_node WHERE hash = @node AND hash <> @after
           UNION ALL
           SELECT n.hash, n.parent, n.message, n.depth FROM message_node n JOIN up ON n.hash = up.parent WHERE n.hash <> @after)
         SELECT hash AS node, message, depth FROM up ORDER BY depth`,
      )
      .all({ node, after }) as PathLink[];
  }

  /** The conversation that ends at `node`, as the harness sent it (key order apart). */
  messages(node: string): ChatMessage[] {
    const cache = new Map<string, ChatMessage>();
    return this.path(node).map(({ message }) => {
      const known = cache.get(message) ?? this.message(message)!;
      cache.set(message, known);
      return known;
    });
  }

  #putLink(link: ChainLink, parent: string | null, depth: number): void {
    this.#insertMessage.run(link.message, link.role, link.body);
    this.#putNode(link.node, parent, link.message, depth);
  }

  #putNode(node: string, parent: string | null, message: string, depth: number): void {
    this.#insertNode.run(node, parent, message, depth);
  }
}
