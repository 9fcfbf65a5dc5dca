/** A process that writes into a vault until it is killed, or `count` times: `writer HOME PREFIX [COUNT]`. Says each name once it is kept. */
import { Vault } from '../../main/vault/vault.js';

const [home, prefix, count] = process.argv.slice(2) as [string, string, string | undefined];
const vault = new Vault(home);
for (let i = 0; i < Number(count ?? Number.MAX_SAFE_INTEGER); i++) {
  await vault.put(`${prefix}-${i}`, `value ${i}`);
  process.stdout.write(`${prefix}-${i}\n`);
}
