/** `tackroom envs find|build|check`: forms in design/cli.md. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Writable } from 'node:stream';
import { TackroomError } from '../../contract/errors.js';
import { requireSandbox } from '../sandbox/detect.js';
import type { Registry } from '../sanitize/detect/registry.js';
import { defaultHome, openHome } from '../services/paths.js';
import { openStore, type Store } from '../store/store.js';
import { noteExport } from '../trajectory/export-log.js';
import { type BuildResult, buildRepairTask } from './build-repair.js';
import { type FindResult, findReport, findWork } from './find.js';
import type { Drop, Work } from './find-repair.js';
import { traceFromFile, traceFromStore } from './session-source.js';
import { candidateRecord, recordFound, recordTask } from './task-records.js';
import { checkTask, type MatrixResult } from './trial-matrix.js';
import type { MatrixSize } from './trials.js';

export interface EnvsIo {
  stdout: Writable;
  stderr: Writable;
  signal: AbortSignal;
  /** The user's rules and decisions for a session; absent: the detectors alone. */
  registryOf?: (store: Store, sessionId: string) => Promise<Registry>;
}
interface Shared {
  home?: string;
  json?: boolean;
}

/** Candidates and drops of session files, or of a recorded session (whose candidates are stored). Runs nothing. */
export async function envsFindCommand(
  paths: string[],
  options: Shared & { session?: string },
  io: EnvsIo,
): Promise<number> {
  const { session } = options;
  if (paths.length > 0 === (session !== undefined))
    throw new TackroomError(
      'BAD_ARGUMENT',
      'Name either session files or one recorded session.',
      'tackroom envs find PATH… or tackroom envs find --session ID',
    );
  const result =
    session === undefined
      ? findWork(paths.map((path) => traceFromFile(path, { clean: false })))
      : await withStore(options, async (store) => {
          const registry = await io.registryOf?.(store, session);
          const found = findWork([traceFromStore(store, session, registry)], { secrets: false });
          recordFound(store, session, found.works, found.drops);
          return found;
        });
  if (options.json) io.stdout.write(`${JSON.stringify(findReport(result))}\n`);
  else io.stdout.write(findText(result, session));
  return 0;
}

/** Builds every repair candidate of `source`: a candidate id, a session id or a session file. Exit 1 when none was built. */
export async function envsBuildCommand(
  source: string,
  options: Shared & { output: string },
  io: EnvsIo,
): Promise<number> {
  const driver = await requireSandbox();
  const built: { task: string; dir: string; content_hash: string }[] = [];
  const drops: Drop[] = [];
  const { works, sessionId, registry } = await worksOf(source, options, io);
  for (const work of works) {
    if (work.candidate.kind !== 'repair') {
      drops.push({ stage: 'build', reason: `build:${work.candidate.kind}_not_supported` });
      continue;
    }
    const dir = join(
      resolve(options.output),
      `repair-${work.candidate.start_sha.slice(0, 12)}-${work.candidate.oracle_sha.slice(0, 12)}`,
    );
    const result = await buildRepairTask(work, dir, { driver, signal: io.signal, registry });
    if (!result.built) {
      drops.push({ stage: 'build', reason: result.reason });
      io.stderr.write(`Not built (${result.reason}): ${result.detail.trim().split('\n').at(-1) ?? ''}\n`);
      continue;
    }
    built.push({ task: result.name, dir, content_hash: result.contentHash });
    if (sessionId !== null)
      await storeTask(options, sessionId, work, result, await checkTask(dir, { driver, signal: io.signal }));
  }
  if (options.json) io.stdout.write(`${JSON.stringify({ built, drops })}\n`);
  else
    io.stdout.write(
      [
        ...built.map(({ task, dir }) => `${task}  ${dir}\n`),
        ...drops.map(({ reason }) => `dropped    ${reason}\n`),
      ].join(''),
    );
  return built.length > 0 ? 0 : 1;
}

/** Runs the trial matrix. `--json`: one object for one task, a list for several. Exit 1 when a task failed. */
export async function envsCheckCommand(
  dirs: string[],
  options: Shared & { size?: MatrixSize },
  io: EnvsIo,
): Promise<number> {
  if (dirs.length === 0)
    throw new TackroomError('BAD_ARGUMENT', 'No task folder is named.', 'tackroom envs check DIR…');
  const driver = await requireSandbox();
  const results: MatrixResult[] = [];
  for (const dir of dirs) {
    const result = await checkTask(resolve(dir), { driver, size: options.size, signal: io.signal });
    results.push(result);
    if (!options.json) io.stdout.write(checkText(result));
  }
  const reports = results.map(({ task, trials, ok }) => ({
    task,
    trials: trials.map(({ name, reward, expected, ok: right }) => ({ name, reward, expected, ok: right })),
    ok,
  }));
  if (options.json) io.stdout.write(`${JSON.stringify(reports.length === 1 ? reports[0] : reports)}\n`);
  return results.every(({ ok }) => ok) ? 0 : 1;
}

interface Source {
  works: Work[];
  /** null: a file. */
  sessionId: string | null;
  registry?: Registry;
}

async function worksOf(source: string, options: Shared, io: EnvsIo): Promise<Source> {
  if (existsSync(source))
    return { works: findWork([traceFromFile(source, { clean: true })], { secrets: false }).works, sessionId: null };
  return withStore(options, async (store) => {
    const candidate = store.candidate.get(source);
    const sessionId = candidate?.sessionId ?? (store.session.get(source) ? source : null);
    if (sessionId === null)
      throw new TackroomError(
        'NOT_FOUND',
        `${source} is no candidate, session or file.`,
        'Find candidates with `tackroom envs find`.',
      );
    const registry = await io.registryOf?.(store, sessionId);
    const works = findWork([traceFromStore(store, sessionId, registry)], { secrets: false }).works;
    return {
      works: candidate ? works.filter((work) => candidateRecord(sessionId, work).id === candidate.id) : works,
      sessionId,
      registry,
    };
  });
}

async function storeTask(
  options: Shared,
  sessionId: string,
  work: Work,
  { dir, contentHash, facts }: Extract<BuildResult, { built: true }>,
  matrix: MatrixResult,
): Promise<void> {
  await withStore(options, (store) => {
    noteExport(store, { sessionId, format: 'task', path: dir, sha256: contentHash, facts });
    const candidate = store.candidate.put(candidateRecord(sessionId, work));
    recordTask(
      store,
      {
        kind: 'repair',
        split: 'none',
        source: candidate.id,
        candidateId: candidate.id,
        dir,
        contentHash,
        question: candidate.check,
      },
      matrix,
    );
  });
}

async function withStore<T>(options: Shared, use: (store: Store) => T | Promise<T>): Promise<T> {
  const store = openStore(openHome(defaultHome(options.home)).home);
  try {
    return await use(store);
  } finally {
    store.close();
  }
}

function findText(result: FindResult, session: string | undefined): string {
  const lines = result.works.map(({ candidate, ...work }) => {
    const id = session === undefined ? '' : `${candidateRecord(session, { candidate, ...work }).id}  `;
    return `${id}${candidate.kind}  request ${candidate.request_index}  ${candidate.check}  (${candidate.files.join(', ')})\n`;
  });
  return [...lines, ...result.drops.map(({ reason }) => `dropped  ${reason}\n`)].join('');
}

function checkText({ task, trials, ok }: MatrixResult): string {
  const lines = trials.map(
    ({ name, reward, expected, ok: right, error }) =>
      `  ${right ? 'ok  ' : 'FAIL'}  ${name}: ${reward ?? 'no score'}, expected ${expected}${!right && error ? ` (${error})` : ''}\n`,
  );
  return `${task}: ${ok ? 'ok' : 'not usable'}\n${lines.join('')}`;
}
