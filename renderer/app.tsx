import { useEffect, useRef, useState } from 'react';
import { listenToKeys, moveRow, useAction } from './parts/actions.js';
import { Command } from './parts/command.js';
import { Empty } from './parts/empty.js';
import { Help } from './parts/help.js';
import { Notices } from './parts/notices.js';
import { Sidebar } from './parts/sidebar.js';
import { StatusBar } from './parts/status-bar.js';
import { AdaptersScreen } from './screens/adapters.js';
import { CleanScreen } from './screens/clean.js';
import { CleanReviewScreen } from './screens/clean-review.js';
import { ConnectScreen } from './screens/connect.js';
import { GuardScreen } from './screens/guard.js';
import { HomeScreen } from './screens/home.js';
import { RecordingScreen } from './screens/recording.js';
import { RunScreen } from './screens/run.js';
import { RunsScreen } from './screens/runs.js';
import { SessionScreen } from './screens/session.js';
import { SessionsScreen } from './screens/sessions.js';
import { useConnection } from './stores/connection.js';
import { useHome } from './stores/home.js';
import { watchRecording } from './stores/recording.js';
import { goTo, useRoute } from './stores/route.js';
import { S } from './strings.js';

function Screen() {
  const route = useRoute((state) => state.route);
  switch (route.screen) {
    case 'home':
      return <HomeScreen />;
    case 'sessions':
      return <SessionsScreen />;
    case 'session':
      return <SessionScreen key={route.id} id={route.id} request={route.request} />;
    case 'guard':
      return <GuardScreen />;
    case 'clean':
      return <CleanScreen />;
    case 'clean-session':
      return <CleanReviewScreen key={route.id} id={route.id} />;
    case 'runs':
      return <RunsScreen />;
    case 'run':
      return <RunScreen key={route.id} id={route.id} />;
    case 'adapters':
      return <AdaptersScreen />;
    case 'connect':
      return <ConnectScreen />;
    case 'recording':
      return <RecordingScreen />;
  }
}

function SignedOut() {
  return (
    <Empty title={S.signedOut.title}>
      <p>{S.signedOut.text}</p>
      <Command text={S.signedOut.command} />
    </Empty>
  );
}

export function App() {
  const [help, setHelp] = useState(false);
  const main = useRef<HTMLElement>(null);
  const signedOut = useConnection((state) => state.state === 'signed-out');
  const route = useRoute((state) => state.route);
  useEffect(listenToKeys, []);
  useEffect(() => void useHome.getState().load(), []);
  useEffect(watchRecording, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new screen starts at its top
  useEffect(() => void main.current?.scrollTo(0, 0), [route]);
  useAction('home', () => goTo({ screen: 'home' }));
  useAction('sessions', () => goTo({ screen: 'sessions' }));
  useAction('guard', () => goTo({ screen: 'guard' }));
  useAction('clean', () => goTo({ screen: 'clean' }));
  useAction('runs', () => goTo({ screen: 'runs' }));
  useAction('adapters', () => goTo({ screen: 'adapters' }));
  useAction('connect', () => goTo({ screen: 'connect' }));
  useAction('recording', () => goTo({ screen: 'recording' }));
  useAction('help', () => setHelp(true));
  useAction('next', () => moveRow(1));
  useAction('previous', () => moveRow(-1));
  const skip = (): void => main.current?.focus();
  return (
    <div className="shell">
      <button type="button" className="button skip" onClick={skip}>
        {S.skip}
      </button>
      <Sidebar onHelp={() => setHelp(true)} />
      <main ref={main} tabIndex={-1}>
        {signedOut ? <SignedOut /> : <Screen />}
      </main>
      <StatusBar />
      <Notices />
      {help && <Help onClose={() => setHelp(false)} />}
    </div>
  );
}
