import type { DeploymentView } from '../../contract/views.js';
import { formatHash, formatShare } from '../logic/format.js';
import { S } from '../strings.js';
import { Link } from './link.js';
import { Panel } from './panel.js';

/** Which adapter answers which harness. */
export function ServingPanel({ deployments }: { deployments: DeploymentView[] }) {
  return (
    <Panel title={S.home.serving} aside={<Link to={{ screen: 'adapters' }}>{S.screens.adapters}</Link>}>
      {deployments.length === 0 && <p className="muted">{S.home.nothingServed}</p>}
      {deployments.length > 0 && (
        <ul className="rows">
          {deployments.map(({ harness, deployment, adapterName, pass1 }) => (
            <li key={harness} className="row">
              <span className="serving-harness">{S.harness[harness]}</span>
              <span className="row-title">{adapterName ?? S.baseModel}</span>
              {pass1 !== null && <span className="num">{formatShare(pass1)}</span>}
              {deployment.adapterHash && <code className="faint">{formatHash(deployment.adapterHash)}</code>}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
