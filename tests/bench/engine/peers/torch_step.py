"""One LoRA training step of SmolLM2-135M in PyTorch + PEFT: tokens per second in fp32 and in bf16.

usage: torch_step.py GGUF [--rows 4] [--length 512] [--rank 32] [--threads 2] [--repeats 3]
A step: forward, cross-entropy over every token, backward, gradient norm clipped to 1, AdamW; no activation checkpointing.
fp32 is everything in fp32; bf16 is autocast over fp32 weights, and once more with the frozen weights themselves in bf16.
Prints one JSON line {"fp32": .., "bf16 autocast": .., "bf16 weights": ..}, best of the repeats after one step to warm up.
"""
import argparse
import contextlib
import json
import time
import warnings

import gguf
import numpy as np
import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

warnings.filterwarnings("ignore")

NAMES = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def model_of(path: str) -> LlamaForCausalLM:
    """The GGUF's weights, dequantised to fp32. (Q and K stay in GGUF's row order: it changes no cost.)"""
    reader = gguf.GGUFReader(path)
    field = lambda name: reader.fields[f"llama.{name}"].contents()
    tensors = {t.name: np.asarray(gguf.dequantize(t.data, t.tensor_type), dtype=np.float32) for t in reader.tensors}
    config = LlamaConfig(
        vocab_size=tensors["token_embd.weight"].shape[0],
        hidden_size=field("embedding_length"),
        intermediate_size=field("feed_forward_length"),
        num_hidden_layers=field("block_count"),
        num_attention_heads=field("attention.head_count"),
        num_key_value_heads=field("attention.head_count_kv"),
        max_position_embeddings=field("context_length"),
        rms_norm_eps=field("attention.layer_norm_rms_epsilon"),
        rope_parameters={"rope_type": "default", "rope_theta": float(field("rope.freq_base"))},
        tie_word_embeddings=True,
        attn_implementation="sdpa",
    )
    model = LlamaForCausalLM(config)
    state = {"model.embed_tokens.weight": tensors["token_embd.weight"], "model.norm.weight": tensors["output_norm.weight"]}
    for name, value in tensors.items():
        parts = name.split(".")
        if parts[0] == "blk":
            state[f"model.layers.{parts[1]}.{NAMES[parts[2]]}.weight"] = value
    missing, unexpected = model.load_state_dict({k: torch.from_numpy(v.copy()) for k, v in state.items()}, strict=False)
    if unexpected or set(missing) - {"lm_head.weight"}:
        raise SystemExit(f"weights do not fit: missing {missing}, unexpected {unexpected}")
    model.tie_weights()
    return model


def tokens_per_second(model, options, autocast: bool) -> float:
    ids = torch.randint(300, 48_000, (options.rows, options.length), generator=torch.Generator().manual_seed(1))
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-5, weight_decay=0.0)

    def step() -> None:
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16) if autocast else contextlib.nullcontext():
            loss = model(input_ids=ids, labels=ids, use_cache=False).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimizer.step()

    step()
    best = float("inf")
    for _ in range(options.repeats):
        start = time.perf_counter()
        step()
        best = min(best, time.perf_counter() - start)
    return options.rows * options.length / best


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("gguf")
    for name, default in (("rows", 4), ("length", 512), ("rank", 32), ("threads", 2), ("repeats", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    lora = LoraConfig(r=options.rank, lora_alpha=2 * options.rank, target_modules="all-linear", task_type="CAUSAL_LM")
    model = get_peft_model(model_of(options.gguf), lora)
    model.train()
    result = {"fp32": tokens_per_second(model, options, autocast=False)}
    result["bf16 autocast"] = tokens_per_second(model, options, autocast=True)
    for parameter in model.parameters():
        if not parameter.requires_grad:
            parameter.data = parameter.data.to(torch.bfloat16)
    result["bf16 weights"] = tokens_per_second(model, options, autocast=True)
    print(json.dumps(result))


if __name__ == "__main__":
    main()
