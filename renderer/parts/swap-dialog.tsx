import { useState } from 'react';
import type { Harness } from '../../contract/records.js';
import type { AdapterView, DeploymentView } from '../../contract/views.js';
import { formatHash } from '../logic/format.js';
import { useAdapters } from '../stores/adapters.js';
import { tell } from '../stores/notices.js';
import { S } from '../strings.js';
import { Confirm } from './confirm.js';

const CHOICES: Harness[] = ['pi', 'opencode', 'hermes'];

interface SwapDialogProps {
  view: AdapterView;
  deployments: DeploymentView[];
  onClose(): void;
}

/** Chooses the harness and shows what changes before it does. */
export function SwapDialog({ view, deployments, onClose }: SwapDialogProps) {
  const { adapter, servedTo } = view;
  const [harness, setHarness] = useState<Harness>(CHOICES.find((choice) => !servedTo.includes(choice)) ?? 'pi');
  const { busy, swap } = useAdapters();
  const now = deployments.find((deployment) => deployment.harness === harness)?.adapterName ?? S.baseModel;
  const confirm = async (): Promise<void> => {
    if (await swap(harness, adapter.id)) tell(S.adapters.swapped(S.harness[harness], adapter.name));
    onClose();
  };
  return (
    <Confirm
      title={S.adapters.swapTitle}
      action={S.adapters.swapNow}
      disabled={busy || servedTo.includes(harness)}
      onConfirm={() => void confirm()}
      onClose={onClose}
    >
      <p>{S.adapters.swapLead}</p>
      <fieldset className="choices">
        <legend>{S.adapters.swapTo}</legend>
        {CHOICES.map((choice) => (
          <label key={choice}>
            <input
              type="radio"
              name="harness"
              value={choice}
              checked={choice === harness}
              onChange={() => setHarness(choice)}
            />
            {S.harness[choice]}
          </label>
        ))}
      </fieldset>
      <p className="change">
        <del>{now}</del>
        <ins>
          {adapter.name} <code>{formatHash(adapter.hash)}</code>
        </ins>
      </p>
    </Confirm>
  );
}
