/** Starts the gateway alone when the user logs in, where the user wants that: one file of the system's own kind, ours to write and remove. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { TackroomError } from '../../contract/errors.js';

export interface LoginItem {
  /** Where it is noted; null: the system keeps it to itself. */
  place: string | null;
  isOn(): boolean;
  /** Errors: REFUSED when what lies there is not ours, IO. */
  set(on: boolean): void;
}

/** Of the program and its arguments that start a gateway without a window. */
export type StartCommand = readonly [string, ...string[]];

/** In every file that we write: without it, it is somebody else's. */
const MARK = 'Written by Tackroom: tackroom login-item off removes it.';
const LABEL = 'dev.tackroom.gateway';

/** Desktop Entry Specification 1.5, Exec: quoted, with four characters escaped, then as a string value; % stands for itself doubled. */
const execWord = (word: string): string =>
  `"${word.replace(/["`$\\]/g, '\\$&')}"`.replaceAll('\\', '\\\\').replaceAll('%', '%%');

const desktopEntry = (command: StartCommand): string =>
  [
    '[Desktop Entry]',
    `# ${MARK}`,
    'Type=Application',
    'Name=Tackroom gateway',
    'Comment=Answers connected coding agents',
    `Exec=${command.map(execWord).join(' ')}`,
    'Terminal=false',
    'NoDisplay=true',
    '',
  ].join('\n');

const xmlText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const launchAgent = (command: StartCommand): string => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ${MARK} -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${command.map((word) => `    <string>${xmlText(word)}</string>`).join('\n')}
  </array>
  <key>RunAtLoad</key>
  <true/>
</dict>
</plist>
`;

/** null: not on this system without the app. */
function placeOf(
  platform: NodeJS.Platform,
  env: NodeJS.ProcessEnv,
): { place: string; form: (command: StartCommand) => string } | null {
  const home = env.HOME || homedir();
  if (platform === 'darwin')
    return { place: join(home, 'Library', 'LaunchAgents', `${LABEL}.plist`), form: launchAgent };
  if (platform === 'win32') return null;
  const config = env.XDG_CONFIG_HOME || join(home, '.config');
  return { place: join(config, 'autostart', 'tackroom-gateway.desktop'), form: desktopEntry };
}

/** null: the system has no such file; there the desktop app does it. */
export function fileLoginItem(
  command: StartCommand,
  platform: NodeJS.Platform = process.platform,
  env: NodeJS.ProcessEnv = process.env,
): LoginItem | null {
  const found = placeOf(platform, env);
  if (!found) return null;
  const { place, form } = found;
  const isOurs = (): boolean => readFileSync(place, 'utf8').includes(MARK);
  const refuseOthers = (): void => {
    if (existsSync(place) && !isOurs())
      throw new TackroomError(
        'REFUSED',
        `${place} was not written by Tackroom, so it is left alone.`,
        'Remove or rename it yourself.',
      );
  };
  return {
    place,
    isOn: () => existsSync(place) && isOurs(),
    set(on) {
      refuseOthers();
      if (on) write(place, form(command));
      else rmSync(place, { force: true });
    },
  };
}

function write(place: string, text: string): void {
  mkdirSync(dirname(place), { recursive: true });
  const partial = `${place}.partial`;
  writeFileSync(partial, text, { mode: 0o644 });
  renameSync(partial, place);
}
