/** Starts the window: theme and sign-in are settled before React, so nothing flashes. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { z } from 'zod';
import { App } from './app.js';
import { setBridge } from './bridge/client.js';
import { isSignedIn, signIn } from './bridge/sign-in.js';
import { SocketBridge } from './bridge/socket-bridge.js';
import { startClock } from './stores/clock.js';
import { useConnection } from './stores/connection.js';
import { connectStores } from './stores/live.js';
import { watchRoute } from './stores/route.js';
import 'uplot/dist/uPlot.min.css';
import './styles/tokens.css';
import './styles/base.css';
import './styles/controls.css';
import './styles/shell.css';
import './styles/home.css';
import './styles/lists.css';
import './styles/session.css';
import './styles/guard.css';
import './styles/clean.css';
import './styles/run.css';
import './styles/connect.css';
import './styles/recording.css';
import './styles/workspace.css';

// The content security policy forbids compiling code from strings.
z.config({ jitless: true });

async function start(): Promise<void> {
  const { set } = useConnection.getState();
  if (window.tackroom) {
    setBridge(window.tackroom);
    set('open');
  } else {
    await signIn();
    const bridge = new SocketBridge({ url: `ws://${location.host}/bridge`, onState: set, isSignedIn });
    setBridge(bridge);
    bridge.connect();
  }
  watchRoute();
  startClock();
  connectStores();
  const root = document.getElementById('root');
  if (root)
    createRoot(root).render(
      <StrictMode>
        <App />
      </StrictMode>,
    );
}

void start();
