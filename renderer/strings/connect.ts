/** Sentences of the Connect screen. */
import type { ConnectState, HarnessView, ServerView, TestResult } from '../../contract/connect-calls.js';

type Connection = HarnessView['connection'];
type Why = NonNullable<ConnectState['refused']['last']>['why'];

const states = {
  none: 'not connected',
  edited: 'changed by hand',
  elsewhere: 'connected elsewhere',
  'other-port': 'another port',
  reaches: 'connected',
  nobody: 'gateway not running',
  stranger: 'another program',
  unreadable: 'cannot be read',
} satisfies Record<Connection['state'], string>;

function explain(connection: Connection): string {
  switch (connection.state) {
    case 'none':
      return 'Its settings do not name Tackroom.';
    case 'edited':
      return 'It was connected, but its settings no longer say so: connect again, or disconnect to clear what is left.';
    case 'elsewhere':
      return `It has the token of another Tackroom home, at port ${connection.port}.`;
    case 'other-port':
      return `It calls port ${connection.port}; this home’s gateway listens at ${connection.ours ?? 'none yet'}.`;
    case 'reaches':
      return `It reaches the gateway at port ${connection.port}.`;
    case 'nobody':
      return `It calls port ${connection.port}, where no gateway runs: it has no model now.`;
    case 'stranger':
      return `It calls port ${connection.port}, where another program answers: it has no model now.`;
    case 'unreadable':
      return connection.hint ? `${connection.reason} ${connection.hint}` : connection.reason;
  }
}

function keyText(key: ServerView['key']): string {
  if (key.from === 'vault') return 'key in the vault';
  return key.from === 'environment' ? `key from ${key.name}` : 'no key';
}

function testText(result: TestResult): string {
  switch (result.outcome) {
    case 'arrived':
      return `A test call arrived and was answered in ${Math.round(result.ms)} ms.`;
    case 'nobody':
      return 'No gateway runs at this home’s port yet.';
    case 'stranger':
      return 'What answers at the port is not the gateway of this home.';
    case 'failed':
      return `The test call reached the gateway, but it had no answer: ${result.reason}`;
  }
}

export const connectStrings = {
  title: 'Connect',
  lead: 'Which agents Tackroom answers, and which model server stands behind each. No file is changed before you have seen the change.',
  states,
  explain,
  facts: { program: 'Program', settings: 'Settings', state: 'State', model: 'Model', server: 'Answered by' },
  looking: 'Looking…',
  found: (version: string | null, path: string) => `${version ?? 'it did not say its version'}, ${path}`,
  notFound: 'Not on the PATH, nor where its installers put it.',
  model: (id: string, tokens: string | null) => `${id}, ${tokens === null ? 'context not known' : `${tokens} tokens`}`,
  engine: 'the built-in engine',
  server: ({ baseUrl, model, key }: ServerView) => [baseUrl, model, keyText(key)].filter(Boolean).join(', '),
  leaves: 'leaves this machine',
  connect: 'Connect…',
  again: 'Connect again…',
  disconnect: 'Disconnect…',
  test: 'Send a test call',
  testing: 'Sending…',
  changeServer: 'Change server…',
  ofHarness: (action: string, harness: string) => `${action.replace(/…$/, '')}: ${harness}`,
  testText,
  environment: 'Or without a change of its files, for one shell:',
  dialog: {
    connectTitle: (harness: string) => `Connect ${harness}`,
    disconnectTitle: (harness: string) => `Disconnect ${harness}`,
    lead: 'This is all that changes. What was there before is kept and comes back with Disconnect.',
    undoLead: 'Each place goes back to what was there before; what you changed since stays.',
    nothing: 'Its settings stay as they are.',
    diffLabel: 'The change, as a unified diff',
    connect: 'Connect',
    disconnect: 'Disconnect',
    working: 'Working…',
    undone: (harness: string) => `${harness} is as it was before.`,
    connected: (harness: string) => `${harness} is connected.`,
  },
  serverDialog: {
    title: (harness: string) => `What answers ${harness}`,
    engine: 'The built-in engine',
    other: 'Another server',
    address: 'Address',
    addressHint: 'Up to and with /v1, as in http://127.0.0.1:8080/v1',
    api: 'API',
    apis: {
      same: 'as the agent speaks',
      chat: 'Chat Completions only',
      responses: 'Responses only',
      messages: 'Messages only',
    },
    model: 'Model there',
    modelHint: 'Empty: as the agent names it',
    key: 'Key',
    keyNew: 'Goes into the vault and is never shown again',
    keyKept: 'Empty: the one that is kept, for the same server',
    forget: 'The server and its key are forgotten for good.',
    save: 'Save',
    saved: (harness: string) => `${harness} is answered by that server from the next request on.`,
    engineAgain: (harness: string) => `${harness} is answered by the built-in engine again.`,
  },
  vault: {
    title: 'Keys of servers',
    protection: {
      none: 'There are none yet. The first one makes an encrypted vault in the home folder.',
      'key-file':
        'Encrypted; the key is a file beside the vault that only you may read. Whoever can read your files can read them.',
      passphrase: 'Encrypted with your passphrase.',
      keychain: 'Encrypted; the system’s keychain holds the key.',
    },
    change: 'To change that:',
    commands: { toPassphrase: 'tackroom vault protect passphrase', toKeyFile: 'tackroom vault protect key-file' },
    locked: 'It is locked: servers that need a key get no request.',
    passphrase: 'Passphrase',
    unlock: 'Unlock',
    unlocked: 'The vault is open until Tackroom ends.',
    useKeychain: 'Use the system’s keychain',
    keychainUsed: 'The system’s keychain protects the vault now.',
  },
  login: {
    title: 'At login',
    label: 'Start the gateway when I log in',
    text: 'Without a window, so that connected agents have their model.',
    place: (place: string) => `Noted in ${place}`,
    unavailable: 'Here only the desktop app can do this.',
  },
  refused: {
    title: 'Turned away',
    none: 'Nobody in the last day.',
    count: (n: number) => `${n.toLocaleString()} in the last day.`,
    last: 'Last',
    from: 'From',
    reason: 'Why',
    whys: {
      origin: 'a web page of another origin',
      host: 'sent to another host name',
      token: 'no token, or a wrong one',
    } satisfies Record<Why, string>,
    ports: { gateway: 'the gateway’s port', window: 'the window’s port' },
    at: 'At',
    log: 'All of them',
  },
} as const;
