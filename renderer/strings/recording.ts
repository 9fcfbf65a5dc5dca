/** Sentences about what is recorded. */
const plural = (n: number, one: string, many: string): string => `${n.toLocaleString()} ${n === 1 ? one : many}`;

export const recordingStrings = {
  title: 'Recording',
  lead: 'What your agents ask and answer is kept on this machine, so that tasks can be made from it. You decide what.',
  state: 'Your sessions',
  on: 'recording',
  paused: 'paused',
  onText: 'Every request of a connected agent is stored once it is answered.',
  pausedText:
    'Requests are answered and guarded, and nothing of them is kept. A conversation that goes on now stays unrecorded to its end.',
  pausedFor: (left: string) => `Recording goes on in ${left}.`,
  pausedOpen: 'Recording stays off until you resume it.',
  pause30: 'Pause for 30 minutes',
  pause: 'Pause until resumed',
  resume: 'Resume recording',
  statusPaused: 'recording paused',
  statusPausedFor: (left: string) => `recording paused, ${left} left`,
  excluded: 'Excluded folders',
  excludedText:
    'Sessions that work in one of these folders, or below it, are not recorded and not imported. While there is one, a request that does not say where it works is not recorded either.',
  noneExcluded: 'No folder is excluded.',
  folder: 'Folder of a project',
  folderHint: 'The whole path, such as /home/you/private',
  exclude: 'Exclude',
  include: 'Record again',
  inExcluded: (n: number) =>
    `${plural(n, 'session', 'sessions')} there ${n === 1 ? 'was' : 'were'} recorded before and ${n === 1 ? 'stays' : 'stay'} until deleted.`,
  limits: 'Limits',
  limitsText:
    'The oldest sessions beyond a limit are deleted for good, within a minute and then every hour. Sessions that a task was made from stay.',
  age: 'Delete after',
  ageHint: 'Days since the last request; empty keeps them',
  size: 'Delete beyond',
  sizeHint: 'MiB of the whole store; empty sets no limit',
  apply: 'Apply limits',
  applyTitle: 'Delete what is beyond these limits?',
  applyText: (days: number | null, size: string | null) =>
    [
      days !== null && `Sessions not used for ${plural(days, 'day', 'days')} are deleted.`,
      size !== null && `The oldest are deleted until the store holds ${size}.`,
      'They cannot be brought back.',
    ]
      .filter(Boolean)
      .join(' '),
  badNumber: 'Write a whole number, or leave it empty.',
  workspace: 'Working directory',
  consent: 'Capture it when a session begins',
  consentText:
    'Kept with the session: git commit and branch, uncommitted changes (up to 1 MiB) and names of new files, hashes of lock files, and versions of installed tools. Nothing in the folder is run.',
  stored: 'Stored',
  sessions: 'Sessions',
  requests: 'Requests',
  inUse: 'Size',
  inUseText: (bytes: string, disk: string) => `${bytes}, ${disk} on the disk`,
  oldest: 'Oldest of yours',
  sweep: 'Last sweep',
  noSweep: 'none yet',
  swept: (removed: number, freed: string, at: string) =>
    `${plural(removed, 'session', 'sessions')} deleted, ${freed} freed, ${at}`,
  keptForTasks: 'Kept for tasks',
} as const;
