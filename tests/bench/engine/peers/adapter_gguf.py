"""Writes a random LoRA adapter for SmolLM2-135M as GGUF, for llama.cpp: every linear layer but the head.

usage: adapter_gguf.py OUT RANK
Layout (llama.cpp, docs of convert_lora_to_gguf): `NAME.weight.lora_a` [rank, in], `NAME.weight.lora_b` [out, rank].
"""
import sys

import gguf
import numpy as np

HIDDEN, KV, FFN, LAYERS = 576, 192, 1536, 30
SHAPES = {
    "attn_q": (HIDDEN, HIDDEN),
    "attn_k": (KV, HIDDEN),
    "attn_v": (KV, HIDDEN),
    "attn_output": (HIDDEN, HIDDEN),
    "ffn_gate": (FFN, HIDDEN),
    "ffn_up": (FFN, HIDDEN),
    "ffn_down": (HIDDEN, FFN),
}


def main(path: str, rank: int) -> None:
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", 2.0 * rank)
    random = np.random.default_rng(1)
    for layer in range(LAYERS):
        for name, (out, inner) in SHAPES.items():
            for suffix, shape in (("lora_a", (rank, inner)), ("lora_b", (out, rank))):
                values = (random.standard_normal(shape) * 0.01).astype(np.float32)
                writer.add_tensor(f"blk.{layer}.{name}.weight.{suffix}", values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
