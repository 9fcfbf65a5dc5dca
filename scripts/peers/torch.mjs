/** PyTorch, transformers and PEFT in a virtual environment of their own: the peer of the training step. */
import { existsSync } from 'node:fs';
import { freeBytes, PeerError, run, stamped, writeStamp } from './command.mjs';
import { PYTHON_PACKAGES, peers, python, torchDir } from './paths.mjs';

const NEEDED = 6e9;

export const torch = {
  name: 'PyTorch + PEFT',
  cost: '2 GB download, 5 GB disk, two to five minutes',
  done: () => stamped(torchDir, PYTHON_PACKAGES),
  async make(log) {
    const free = freeBytes(peers);
    if (free < NEEDED)
      throw new PeerError(
        `PyTorch needs about 5 GB, and the disk below build/peers has ${(free / 1e9).toFixed(1)} GB free.`,
        'The training rows of the benchmark stay without a peer until there is room.',
      );
    if (!existsSync(python)) await run('python3', ['-m', 'venv', torchDir], { hint: 'It needs python3 with venv.' });
    log(`pip install ${PYTHON_PACKAGES.join(' ')}`);
    await run(
      python,
      [
        '-m',
        'pip',
        'install',
        '--no-compile',
        '--quiet',
        '--disable-pip-version-check',
        '--no-input',
        ...PYTHON_PACKAGES,
      ],
      {
        hint: 'Check the network or the PyPI setting of pip and run: npm run bench:peers',
      },
    );
    await run(python, ['-c', 'import torch, transformers, peft, gguf']);
    writeStamp(torchDir, PYTHON_PACKAGES);
  },
};
