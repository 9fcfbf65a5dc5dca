/** Hands each pushed event to the stores; each takes what concerns it. */
import { onEvent } from '../bridge/client.js';
import { onAdaptersEvent } from './adapters.js';
import { onCleanEvent } from './clean.js';
import { onCleanListEvent } from './clean-list.js';
import { onCleanVerdictsEvent } from './clean-verdicts.js';
import { onConnectEvent } from './connect.js';
import { onGuardLogEvent } from './guard-log.js';
import { onHomeEvent } from './home.js';
import { onRecordingEvent } from './recording.js';
import { onRunEvent } from './run.js';
import { onRunListEvent } from './run-list.js';
import { onSessionEvent } from './session.js';
import { onSessionListEvent } from './session-list.js';
import { onWorkspaceEvent } from './workspace.js';

const LISTENERS = [
  onHomeEvent,
  onSessionListEvent,
  onSessionEvent,
  onRunListEvent,
  onRunEvent,
  onAdaptersEvent,
  onConnectEvent,
  onGuardLogEvent,
  onCleanEvent,
  onCleanListEvent,
  onCleanVerdictsEvent,
  onRecordingEvent,
  onWorkspaceEvent,
];

/** Returns the function that ends it. */
export const connectStores = (): (() => void) =>
  onEvent((message) => {
    for (const listener of LISTENERS) listener(message);
  });
