import { useEffect, useState } from 'react';
import type { HarnessView } from '../../contract/connect-calls.js';
import { useConnect } from '../stores/connect.js';
import { S } from '../strings.js';
import { Command } from './command.js';
import { ConnectDialog } from './connect-dialog.js';
import { Facts } from './facts.js';
import { Panel } from './panel.js';
import { Pill, type Tone } from './pill.js';
import { ServerDialog } from './server-dialog.js';
import { TestLine } from './test-line.js';

const TONES: Record<HarnessView['connection']['state'], Tone> = {
  none: 'quiet',
  edited: 'warn',
  elsewhere: 'warn',
  'other-port': 'warn',
  reaches: 'good',
  nobody: 'warn',
  stranger: 'bad',
  unreadable: 'bad',
};

type Open = 'connect' | 'disconnect' | 'server' | null;

function ProgramFact({ harness }: Pick<HarnessView, 'harness'>) {
  const program = useConnect(({ programs }) => programs[harness]);
  if (program === undefined) return S.connect.looking;
  return program ? S.connect.found(program.version, program.path) : S.connect.notFound;
}

function ServerFact({ server }: Pick<HarnessView, 'server'>) {
  if (!server) return S.connect.engine;
  return (
    <>
      {S.connect.server(server)} {!server.local && <Pill tone="warn">{S.connect.leaves}</Pill>}
    </>
  );
}

/** One agent: what was found of it, what it is connected to, and what can be done. */
export function HarnessPanel({ view }: { view: HarnessView }) {
  const { harness, connection, files, model, server, environmentCommand } = view;
  const { look, test, tests } = useConnect();
  const [open, setOpen] = useState<Open>(null);
  useEffect(() => void look(harness), [look, harness]);
  const name = S.harness[harness];
  const result = tests[harness];
  const close = (): void => setOpen(null);
  const button = (text: string, onClick: () => void, kind = '', disabled = false) => (
    <button
      type="button"
      className={`button ${kind}`}
      aria-label={S.connect.ofHarness(text, name)}
      disabled={disabled}
      onClick={onClick}
    >
      {text}
    </button>
  );
  const isNew = connection.state === 'none';
  return (
    <Panel
      title={name}
      aside={
        <Pill tone={TONES[connection.state]} dot>
          {S.connect.states[connection.state]}
        </Pill>
      }
    >
      <Facts
        rows={[
          [S.connect.facts.state, S.connect.explain(connection)],
          [S.connect.facts.program, <ProgramFact key="program" harness={harness} />],
          [
            S.connect.facts.settings,
            files.map((file) => (
              <code key={file} className="connect-file">
                {file}
              </code>
            )),
          ],
          [S.connect.facts.model, S.connect.model(model.id, model.contextTokens?.toLocaleString() ?? null)],
          [S.connect.facts.server, <ServerFact key="server" server={server} />],
        ]}
      />
      <div className="connect-actions">
        {connection.state !== 'unreadable' &&
          button(
            isNew ? S.connect.connect : S.connect.again,
            () => setOpen('connect'),
            connection.state === 'reaches' ? '' : 'button-primary',
          )}
        {!isNew && connection.state !== 'unreadable' && button(S.connect.disconnect, () => setOpen('disconnect'))}
        {button(S.connect.changeServer, () => setOpen('server'))}
        {button(
          result === 'running' ? S.connect.testing : S.connect.test,
          () => void test(harness),
          '',
          result === 'running',
        )}
        <TestLine result={result} />
      </div>
      {environmentCommand && (
        <div className="connect-environment">
          <p className="muted">{S.connect.environment}</p>
          <Command text={environmentCommand} />
        </div>
      )}
      {open === 'server' && <ServerDialog view={view} onClose={close} />}
      {(open === 'connect' || open === 'disconnect') && (
        <ConnectDialog harness={harness} undo={open === 'disconnect'} onClose={close} />
      )}
    </Panel>
  );
}
