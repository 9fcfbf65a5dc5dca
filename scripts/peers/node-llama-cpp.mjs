/** node-llama-cpp in a folder of its own, with the binaries that its packages bring. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, stamped, writeStamp } from './command.mjs';
import { NODE_LLAMA_CPP, nodeDir } from './paths.mjs';

export const nodeLlamaCpp = {
  name: 'node-llama-cpp',
  cost: '250 MB download, 750 MB disk, one minute',
  done: () => stamped(nodeDir, NODE_LLAMA_CPP),
  async make(log) {
    mkdirSync(nodeDir, { recursive: true });
    writeFileSync(join(nodeDir, 'package.json'), '{ "private": true, "type": "module" }\n');
    log(`npm install node-llama-cpp@${NODE_LLAMA_CPP}`);
    // npm hands its own settings down as npm_* variables; a nested install must not inherit them.
    const own = Object.keys(process.env).filter((name) => /^npm_(?!config_registry)/i.test(name));
    const env = { ...Object.fromEntries(own.map((name) => [name, undefined])), NODE_LLAMA_CPP_SKIP_DOWNLOAD: 'true' };
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    const quiet = ['--no-fund', '--no-audit', '--no-package-lock', '--loglevel=error'];
    await run(npm, ['install', '--save-exact', ...quiet, `node-llama-cpp@${NODE_LLAMA_CPP}`], {
      cwd: nodeDir,
      env,
      hint: 'Check the network or the npm registry setting and run: npm run bench:peers',
    });
    writeStamp(nodeDir, NODE_LLAMA_CPP);
  },
};
