import { cleanup, fireEvent, render, screen, within } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Workspace } from '../../contract/workspace.js';
import { changeRecordingSettings } from '../../main/record/settings.js';
import { putWorkspace } from '../../main/record/workspace/workspace-store.js';
import { SessionScreen } from '../../renderer/screens/session.js';
import { useSession } from '../../renderer/stores/session.js';
import { useWorkspace } from '../../renderer/stores/workspace.js';
import { MARKED_SESSION, recordSession } from '../e2e/seed-sessions.js';
import { type InProcessApp, openInProcessApp } from './support.js';

let app: InProcessApp;
beforeEach(() => {
  app = openInProcessApp();
  useSession.setState(useSession.getInitialState(), true);
  useWorkspace.setState(useWorkspace.getInitialState(), true);
});
afterEach(() => {
  cleanup();
  app.close();
});

const COMMIT = '4be2d51c0f0a5e1f6a1b3c9a7d2e8f60b1c2d3e4';
const GIT: NonNullable<Workspace['git']> = {
  root: '/home/dev/shop',
  commit: COMMIT,
  branch: 'trunk',
  diff: 'diff --git a/till.py b/till.py\n--- a/till.py\n+++ b/till.py\n@@ -1 +1 @@\n-old = 1\n+new = 2 # <img src=x onerror=alert(1)>\n',
  diffClipped: false,
  untracked: Array.from({ length: 7 }, (_, i) => `notes-${i}.md`),
  untrackedClipped: false,
};
const WORKSPACE: Workspace = {
  cwd: '/home/dev/shop/till',
  capturedAt: Date.UTC(2026, 2, 4, 9, 30),
  git: GIT,
  locks: [{ path: '/home/dev/shop/uv.lock', bytes: 2048, sha256: 'ab'.repeat(32) }],
  tools: [
    { name: 'node', version: 'v22.13.0' },
    { name: 'git', version: 'git version 2.47.1' },
    { name: 'python3', version: 'Python 3.12.7' },
  ],
  problems: [],
};

/** The session's screen; resolves with the section once it is read. */
async function show(workspace: Workspace | null, origin: 'user' | 'import' | 'rollout' = 'user'): Promise<HTMLElement> {
  const id = recordSession(app.recorder, { ...MARKED_SESSION, origin, endedAt: Date.now() });
  if (workspace) putWorkspace(app.store, id, workspace);
  render(<SessionScreen id={id} request={undefined} />);
  const section = await screen.findByRole('region', { name: 'Working directory' });
  await expect.poll(() => section.textContent).not.toContain('Reading…');
  return section;
}
const fact = (section: HTMLElement, name: string): string =>
  within(section).getByText(name).parentElement?.querySelector('dd')?.textContent ?? '';

describe('a captured working directory', () => {
  it('is told with a heading, a name for each value, and no diff until it is asked for', async () => {
    const section = await show(WORKSPACE);
    expect(within(section).getByRole('heading', { level: 2 }).textContent).toBe('Working directory');
    expect(fact(section, 'Folder')).toBe('/home/dev/shop/till');
    expect(fact(section, 'Repository')).toBe('/home/dev/shop');
    expect(fact(section, 'Commit')).toBe(COMMIT);
    expect(fact(section, 'Branch')).toBe('trunk');
    expect(fact(section, 'Uncommitted')).toContain('changes in 1 file');
    expect(fact(section, 'Lock files')).toContain(`/home/dev/shop/uv.lock 2.0 KiB sha256 ${'ab'.repeat(32)}`);
    const tools = within(within(section).getByText('Tools').parentElement!).getAllByRole('listitem');
    expect(tools.map((item) => item.textContent)).toEqual(['node v22.13.0', 'git version 2.47.1', 'Python 3.12.7']);
    expect(section.textContent).not.toContain('new = 2');
    expect(section.textContent).not.toContain('Not looked at');
  });

  it('opens the diff by its button, as text and never as markup', async () => {
    const section = await show(WORKSPACE);
    const button = within(section).getByRole('button', { name: 'Show the diff' });
    expect(button.getAttribute('aria-expanded')).toBe('false');
    fireEvent.click(button);
    const diff = within(section).getByRole('region', { name: 'Uncommitted changes' });
    expect(diff.textContent).toBe(GIT.diff);
    expect(section.querySelectorAll('img, script')).toHaveLength(0);
    expect(button.getAttribute('aria-expanded')).toBe('true');
    expect(document.getElementById(button.getAttribute('aria-controls') ?? '')?.contains(diff)).toBe(true);
    fireEvent.click(within(section).getByRole('button', { name: 'Hide the diff' }));
    expect(within(section).queryByRole('region', { name: 'Uncommitted changes' })).toBeNull();
  });

  it('folds many new files, and opens all with the switch of the screen', async () => {
    const section = await show(WORKSPACE);
    expect(fact(section, 'New files')).toMatch(/notes-4\.md2 more lines$/);
    fireEvent.click(screen.getByRole('button', { name: /^Show all long texts/ }));
    expect(fact(section, 'New files')).toContain('notes-6.md');
    expect(section.textContent).toContain('new = 2');
  });

  it('shows characters that would hide or turn around text by their codes', async () => {
    const git = { ...GIT, branch: 'a\u202eb\u001b[31m', diff: '+x\u2066y\r\n', untracked: ['one\ntwo'] };
    const section = await show({ ...WORKSPACE, cwd: '/home/dev/a\tb', git });
    expect(fact(section, 'Folder')).toBe('/home/dev/a\\x09b');
    expect(fact(section, 'Branch')).toBe('a\\u202eb\\x1b[31m');
    expect(fact(section, 'New files')).toBe('one\\x0atwo');
    fireEvent.click(within(section).getByRole('button', { name: 'Show the diff' }));
    expect(fact(section, 'Uncommitted')).toContain('+x\\u2066y\\x0d\n');
  });

  it('says what was cut, and what could not be looked at', async () => {
    const git = { ...GIT, diff: '+1\n'.repeat(5000), diffClipped: true, untrackedClipped: true };
    const section = await show({ ...WORKSPACE, git, problems: ['npm: it took longer than 10 s'] });
    fireEvent.click(within(section).getByRole('button', { name: 'Show the diff' }));
    expect(section.textContent).toContain('9,000 more characters: tackroom sessions show prints all.');
    expect(section.textContent).toContain('its end was cut off when it was captured');
    expect(section.textContent).toContain('There were more than the names kept.');
    expect(fact(section, 'Not looked at')).toBe('npm: it took longer than 10 s');
  });

  it('is told where there is little to tell', async () => {
    const git = { ...GIT, root: '/home/dev/shop/till', commit: null, branch: null, diff: '', untracked: [] };
    const section = await show({ ...WORKSPACE, git, locks: [], tools: [] });
    for (const [name, text] of [
      ['Commit', 'nothing committed yet'],
      ['Branch', 'none checked out'],
      ['Uncommitted', 'no changes'],
      ['New files', 'none'],
      ['Lock files', 'none'],
      ['Tools', 'none found'],
    ] as const)
      expect(fact(section, name)).toBe(text);
    expect(within(section).queryByText('Repository')).toBeNull();
    cleanup();
    expect(fact(await show({ ...WORKSPACE, git: null }), 'Git')).toBe('No repository that could be read.');
  });
});

describe('none', () => {
  it('says that capturing is off, and leads to where it is allowed', async () => {
    const section = await show(null);
    expect(section.textContent).toContain('capturing is off');
    expect(within(section).getByRole('link', { name: 'Recording' }).getAttribute('href')).toBe('#/recording');
  });

  it.each([
    ['import', 'this session was imported'],
    ['rollout', 'work of Tackroom’s own'],
  ] as const)('says why for a session of origin %s', async (origin, text) => {
    const section = await show(null, origin);
    expect(section.textContent).toContain(text);
    expect(within(section).queryByRole('link')).toBeNull();
  });

  it('shows one that is captured while the session is on screen', async () => {
    changeRecordingSettings(app.store, (before) => ({ ...before, workspace: true }));
    const section = await show(null);
    expect(section.textContent).toContain('None was captured when this session began');
    const sessionId = useWorkspace.getState().id!;
    putWorkspace(app.store, sessionId, WORKSPACE);
    app.bus.publish('session.recorded', { sessionId, requestId: 'r', origin: 'user', blocked: 0 });
    await expect.poll(() => section.textContent).toContain(COMMIT);
  });

  it('keeps the transcript when it cannot be read', async () => {
    const id = recordSession(app.recorder, { ...MARKED_SESSION, endedAt: Date.now() });
    app.store.db.prepare('INSERT INTO workspace VALUES (?, ?, ?)').run(id, 0, '{"cwd":7}');
    render(<SessionScreen id={id} request={undefined} />);
    expect((await screen.findByRole('alert')).textContent).toContain('cwd is not valid');
    expect(document.querySelector('.transcript')?.children.length).toBeGreaterThan(3);
  });
});
