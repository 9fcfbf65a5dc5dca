import { afterAll, describe, expect, it } from 'vitest';
import type { Workspace } from '../../contract/workspace.js';
import type { ToolDefinition } from '../../main/engine/protocol.js';
import { Recorder } from '../../main/record/recorder.js';
import { putWorkspace } from '../../main/record/workspace/workspace-store.js';
import { openStore } from '../../main/store/store.js';
import { exportSession, rawExport } from '../../main/trajectory/export-session.js';
import { makePrivate, privateParts } from '../envs/private-session.js';
import { ask, callBash, request, result, say, system, temporaryHome, user } from '../record/support.js';

const { home, remove } = temporaryHome();
const store = openStore(home);
afterAll(() => {
  store.close();
  remove();
});

const who = makePrivate('outside');
const { user: name, host, token } = who;
const slug = `-home-${name}-deploy`;

/** Private in every field that is no text of the conversation. */
const workspace: Workspace = {
  cwd: `${who.home}/deploy`,
  capturedAt: 1_700_000_000_000,
  git: {
    root: `${who.home}/deploy`,
    commit: '0123456789abcdef0123456789abcdef01234567',
    branch: `${name}/fix-invoices`,
    diff: `diff --git a/.env b/.env\n--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-HOST=${host}\n+API_TOKEN=${token}\n`,
    diffClipped: false,
    untracked: [`notes-${name}.md`, `${slug}/a.jsonl`],
    untrackedClipped: false,
  },
  locks: [{ path: `${who.home}/deploy/package-lock.json`, bytes: 12, sha256: 'a'.repeat(64) }],
  tools: [{ name: 'make', version: `GNU Make 4.3 (${name}@${host})` }],
  problems: [`git: cannot read /home/${name}/deploy/.git/config: url https://${name}:${token}@${host}/x.git`],
};
const tool: ToolDefinition = {
  type: 'function',
  function: {
    name: 'deploy',
    description: `Deploys from ${who.home}/deploy to ${name}@${host}.`,
    parameters: { type: 'object', properties: { key: { type: 'string', default: token, description: `of ${host}` } } },
  },
};

const recorder = new Recorder(store);
const call = callBash('c1', `echo ${slug}`);
const { sessionId } = recorder.record(
  request([system, ask('go'), call, result('c1', `${name}@${host}:~$ `)], say('done'), {
    session: { ...user, title: `the key of ${name} is ${token}` },
    tools: [tool],
  }),
);
putWorkspace(store, sessionId, workspace);

describe.each(['atif', 'native'])('an export as %s', (format) => {
  it('is as clean in names, paths, diffs, versions and tool descriptions as in its texts', () => {
    const raw = JSON.stringify(rawExport(store, sessionId, format));
    for (const value of [name, host, token, slug]) expect(raw).toContain(value);
    const clean = exportSession(store, sessionId, { format }).text();
    expect(privateParts(who).filter((part) => clean.includes(part))).toEqual([]);
    expect(clean).toContain(workspace.git!.commit);
    expect(clean).toContain('fix-invoices');
    expect(clean).toContain('GNU Make 4.3');
    expect(clean).toContain('package-lock.json');
  });
});
