/** The three APIs a harness may speak: how each is read, and how an answer looks in it. */
import type { ServerResponse } from 'node:http';
import type { Request } from '../../../contract/records.js';
import { type ChatRequest, parseChatRequest } from '../chat-request.js';
import { type ChatResponse, type Identity, JsonResponse, SseResponse, sendError, sendJson } from '../chat-response.js';
import { errorBody, type HttpError } from '../http-error.js';
import type { Editor } from '../relay/edit.js';
import { chatEditor } from '../relay/edit-chat.js';
import { messagesEditor } from '../relay/edit-messages.js';
import { responsesEditor } from '../relay/edit-responses.js';
import { ChunkCollector } from '../upstream-chunks.js';
import type { Collector, UpstreamSink } from './collected.js';
import { MessagesCollector } from './messages-collector.js';
import { chatFromMessages } from './messages-request.js';
import { MessagesJson, MessagesSse, messagesError } from './messages-response.js';
import type { RawBody } from './parse.js';
import { ResponsesCollector } from './responses-collector.js';
import { chatFromResponses } from './responses-request.js';
import { ResponsesJson, ResponsesSse } from './responses-response.js';

export type Api = Request['api'];

export interface Dialect {
  readonly api: Api;
  /** Below the base URL of a server, which ends with `/v1`. */
  readonly path: string;
  /** The member of a body that holds the conversation. */
  readonly list: 'messages' | 'input';
  /** The same in the form of Chat Completions, which guard, record and engine know. Throws 400. */
  parse(body: RawBody): ChatRequest;
  respond(
    response: ServerResponse,
    identity: Identity,
    asked: Pick<ChatRequest, 'stream' | 'includeUsage'>,
    keepAliveMs: number,
  ): ChatResponse;
  /** Before anything was sent. */
  sendError(response: ServerResponse, error: HttpError): void;
  /** The event that ends a stream which broke. */
  failureEvent(error: HttpError): string;
  /** Reads an answer of a server that speaks this dialect. */
  collector(sink: UpstreamSink): Collector;
  readonly editor: Editor;
}

const chat: Dialect = {
  api: 'chat',
  path: '/chat/completions',
  list: 'messages',
  parse: parseChatRequest,
  respond: (response, identity, asked, keepAliveMs) =>
    asked.stream
      ? new SseResponse(response, identity, asked.includeUsage, keepAliveMs)
      : new JsonResponse(response, identity),
  sendError,
  failureEvent: (error) => `data: ${JSON.stringify(errorBody(error))}\n\n`,
  collector: (sink) => new ChunkCollector(sink),
  editor: chatEditor,
};

const responses: Dialect = {
  api: 'responses',
  path: '/responses',
  list: 'input',
  parse: (body) => parseChatRequest(chatFromResponses(body)),
  respond: (response, identity, asked, keepAliveMs) =>
    asked.stream ? new ResponsesSse(response, identity, keepAliveMs) : new ResponsesJson(response, identity),
  sendError,
  failureEvent: (error) => {
    const { message, code } = errorBody(error).error;
    const event = { type: 'error', code, message, param: null, sequence_number: 0 };
    return `event: error\ndata: ${JSON.stringify(event)}\n\n`;
  },
  collector: (sink) => new ResponsesCollector(sink),
  editor: responsesEditor,
};

const messages: Dialect = {
  api: 'messages',
  path: '/messages',
  list: 'messages',
  parse: (body) => parseChatRequest(chatFromMessages(body)),
  respond: (response, identity, asked, keepAliveMs) =>
    asked.stream ? new MessagesSse(response, identity, keepAliveMs) : new MessagesJson(response, identity),
  sendError: (response, error) => sendJson(response, error.status, messagesError(error), error),
  failureEvent: (error) => `event: error\ndata: ${JSON.stringify(messagesError(error))}\n\n`,
  collector: (sink) => new MessagesCollector(sink),
  editor: messagesEditor,
};

export const DIALECTS: Record<Api, Dialect> = { chat, responses, messages };
