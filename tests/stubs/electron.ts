/**
 * Electron's surface as main/app/ uses it, for machines without the binary: it records what it was told and lets tests
 * raise the events. Utility processes are real child processes.
 */
import { fork } from 'node:child_process';
import { EventEmitter } from 'node:events';

type Listener = (...args: never[]) => unknown;

class StubApp extends EventEmitter {
  isPackaged = true;
  sandboxed = false;
  hasLock = true;
  quits = 0;
  exitCode: number | undefined;
  whenReady = (): Promise<void> => Promise.resolve();
  requestSingleInstanceLock = (): boolean => this.hasLock;
  enableSandbox = (): void => {
    this.sandboxed = true;
  };
  quit = (): void => {
    this.quits++;
  };
  exit = (code: number): void => {
    this.exitCode = code;
  };
  /** What was asked of the system, last. */
  loginItem: { openAtLogin: boolean; args?: string[] } = { openAtLogin: false };
  setLoginItemSettings = (settings: StubApp['loginItem']): void => {
    this.loginItem = settings;
  };
  getLoginItemSettings = ({ args = [] }: { args?: string[] }): { openAtLogin: boolean; wasOpenedAtLogin: boolean } => ({
    openAtLogin: this.loginItem.openAtLogin && args.join(' ') === this.loginItem.args?.join(' '),
    wasOpenedAtLogin: false,
  });
}
export const app = new StubApp();

export class StubContents extends EventEmitter {
  readonly mainFrame: { url: string };
  readonly sent: { channel: string; message: unknown }[] = [];
  openHandler: ((details: { url: string }) => { action: string }) | undefined;
  destroyed = false;
  constructor(url = '') {
    super();
    this.mainFrame = { url };
  }
  setWindowOpenHandler(handler: (details: { url: string }) => { action: string }): void {
    this.openHandler = handler;
  }
  send(channel: string, message: unknown): void {
    this.sent.push({ channel, message });
  }
  getURL = (): string => this.mainFrame.url;
  isDestroyed = (): boolean => this.destroyed;
}

export class BrowserWindow extends EventEmitter {
  static readonly made: BrowserWindow[] = [];
  readonly webContents = new StubContents();
  shown = 0;
  constructor(readonly options: Record<string, unknown>) {
    super();
    BrowserWindow.made.push(this);
    app.emit('web-contents-created', {}, this.webContents);
  }
  async loadURL(url: string): Promise<void> {
    this.webContents.mainFrame.url = url;
    this.emit('ready-to-show');
  }
  show(): void {
    this.shown++;
  }
  focus(): void {}
  restore(): void {}
  isMinimized = (): boolean => false;
  isDestroyed = (): boolean => this.webContents.destroyed;
}

type Answer = (granted: boolean) => void;
class StubSession extends EventEmitter {
  readonly schemes = new Map<string, (request: Request) => Promise<Response>>();
  readonly protocol = {
    handle: (scheme: string, answer: (request: Request) => Promise<Response>): void => {
      this.schemes.set(scheme, answer);
    },
  };
  permissionRequest: ((contents: unknown, permission: string, answer: Answer) => void) | undefined;
  permissionCheck: (() => boolean) | undefined;
  devicePermission: (() => boolean) | undefined;
  setPermissionRequestHandler = (handler: StubSession['permissionRequest']): void => {
    this.permissionRequest = handler;
  };
  setPermissionCheckHandler = (handler: () => boolean): void => {
    this.permissionCheck = handler;
  };
  setDevicePermissionHandler = (handler: () => boolean): void => {
    this.devicePermission = handler;
  };
}
export const session = { defaultSession: new StubSession() };

export const protocol = {
  registered: [] as { scheme: string; privileges: Record<string, boolean> }[],
  registerSchemesAsPrivileged(schemes: { scheme: string; privileges: Record<string, boolean> }[]): void {
    protocol.registered.push(...schemes);
  },
};

export const ipcMain = {
  handlers: new Map<string, Listener>(),
  handle(channel: string, listener: Listener): void {
    if (ipcMain.handlers.has(channel)) throw new Error(`A second handler for ${channel}`);
    ipcMain.handlers.set(channel, listener);
  },
  removeHandler(channel: string): void {
    ipcMain.handlers.delete(channel);
  },
};

class StubIpcRenderer extends EventEmitter {
  readonly invoked: { channel: string; args: unknown[] }[] = [];
  invoke = async (channel: string, ...args: unknown[]): Promise<unknown> => {
    this.invoked.push({ channel, args });
    return { ok: true, output: null };
  };
}
export const ipcRenderer = new StubIpcRenderer();
export const contextBridge = {
  exposed: new Map<string, unknown>(),
  exposeInMainWorld(name: string, value: unknown): void {
    contextBridge.exposed.set(name, value);
  },
};

export const dialog = {
  errors: [] as { title: string; text: string }[],
  showErrorBox(title: string, text: string): void {
    dialog.errors.push({ title, text });
  },
  /** Asked so far, and the button that is pressed next. */
  asked: [] as { message: string; buttons: string[] }[],
  press: 0,
  showMessageBox(options: { message: string; buttons: string[] }): Promise<{ response: number }> {
    dialog.asked.push(options);
    return Promise.resolve({ response: dialog.press });
  },
};

export const powerMonitor = new EventEmitter();

/** Hides nothing: tests look at what goes through it. */
export const safeStorage = {
  works: true,
  backend: 'gnome_libsecret',
  isEncryptionAvailable: (): boolean => safeStorage.works,
  getSelectedStorageBackend: (): string => safeStorage.backend,
  encryptString: (text: string): Buffer => Buffer.from(text).reverse(),
  decryptString: (sealed: Buffer): string => Buffer.from(sealed).reverse().toString(),
};

export const Menu = {
  applied: undefined as unknown,
  buildFromTemplate: (template: unknown): unknown => template,
  setApplicationMenu(menu: unknown): void {
    Menu.applied = menu;
  },
};
export const nativeTheme = { shouldUseDarkColors: false };
export const nativeImage = { createFromPath: (file: string) => ({ file, isEmpty: (): boolean => false }) };
export class Tray extends EventEmitter {
  setToolTip(): void {}
  setContextMenu(): void {}
}

export const utilityProcess = {
  fork(entry: string, args: string[], options: { serviceName?: string; stdio?: string }) {
    const child = fork(entry, args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], execArgv: [] });
    const process = new EventEmitter();
    child.once('spawn', () => process.emit('spawn'));
    child.once('exit', (code) => process.emit('exit', code ?? 1));
    return Object.assign(process, {
      pid: child.pid,
      stdout: child.stdout,
      stderr: child.stderr,
      options,
      kill: () => child.kill(),
    });
  },
};
