import type { ReactNode } from 'react';
import type { Route } from '../logic/routes.js';
import { SHORTCUTS } from '../logic/shortcuts.js';
import { useRoute } from '../stores/route.js';
import { useTheme } from '../stores/theme.js';
import { S } from '../strings.js';
import {
  AdaptersIcon,
  CleanIcon,
  ConnectIcon,
  GuardIcon,
  HomeIcon,
  KeyboardIcon,
  Mark,
  RecordingIcon,
  RunsIcon,
  SessionsIcon,
  ThemeIcon,
} from './icons.js';
import { Link } from './link.js';

type Top = 'home' | 'sessions' | 'guard' | 'clean' | 'runs' | 'adapters' | 'connect' | 'recording';
const TOP: { screen: Top; icon: ReactNode }[] = [
  { screen: 'home', icon: <HomeIcon /> },
  { screen: 'sessions', icon: <SessionsIcon /> },
  { screen: 'guard', icon: <GuardIcon /> },
  { screen: 'clean', icon: <CleanIcon /> },
  { screen: 'runs', icon: <RunsIcon /> },
  { screen: 'adapters', icon: <AdaptersIcon /> },
  { screen: 'connect', icon: <ConnectIcon /> },
  { screen: 'recording', icon: <RecordingIcon /> },
];

const SHOWN_UNDER = { session: 'sessions', run: 'runs', 'clean-session': 'clean' } as const;
const topOf = ({ screen }: Route): Top =>
  screen === 'session' || screen === 'run' || screen === 'clean-session' ? SHOWN_UNDER[screen] : screen;

export function Sidebar({ onHelp }: { onHelp(): void }) {
  const current = topOf(useRoute((state) => state.route));
  const { theme, cycle } = useTheme();
  return (
    <nav className="sidebar" aria-label={S.navigation}>
      <div className="brand">
        <Mark />
        <span>{S.app}</span>
      </div>
      <ul>
        {TOP.map(({ screen, icon }) => (
          <li key={screen}>
            <Link to={{ screen }} className="nav" label={S.screens[screen]} current={screen === current}>
              {icon}
              <span>{S.screens[screen]}</span>
              <span className="nav-key">{SHORTCUTS[screen][0]}</span>
            </Link>
          </li>
        ))}
      </ul>
      <div className="sidebar-foot">
        <button type="button" className="nav" aria-label={S.theme[theme]} onClick={cycle}>
          <ThemeIcon />
          <span>{S.theme[theme]}</span>
        </button>
        <button type="button" className="nav" aria-label={S.help.open} onClick={onHelp}>
          <KeyboardIcon />
          <span>{S.help.open}</span>
          <span className="nav-key">?</span>
        </button>
      </div>
    </nav>
  );
}
