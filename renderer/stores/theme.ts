import { create } from 'zustand';

export type Theme = 'system' | 'light' | 'dark';
const KEY = 'tackroom.theme';
const NEXT: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' };

interface ThemeStore {
  theme: Theme;
  /** What is on screen; charts redraw when it changes. */
  shown: 'light' | 'dark';
  cycle(): void;
}

const systemDark = window.matchMedia('(prefers-color-scheme: dark)');

function chosen(): Theme {
  const value = document.documentElement.dataset.theme;
  return value === 'light' || value === 'dark' ? value : 'system';
}

const shownFor = (theme: Theme): 'light' | 'dark' =>
  theme === 'system' ? (systemDark.matches ? 'dark' : 'light') : theme;

export const useTheme = create<ThemeStore>()((set, get) => ({
  theme: chosen(),
  shown: shownFor(chosen()),
  cycle() {
    const theme = NEXT[get().theme];
    if (theme === 'system') {
      delete document.documentElement.dataset.theme;
      localStorage.removeItem(KEY);
    } else {
      document.documentElement.dataset.theme = theme;
      localStorage.setItem(KEY, theme);
    }
    set({ theme, shown: shownFor(theme) });
  },
}));

systemDark.addEventListener('change', () => useTheme.setState(({ theme }) => ({ shown: shownFor(theme) })));
