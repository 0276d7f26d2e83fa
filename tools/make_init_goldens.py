#!/usr/bin/env python3
"""Writes tests/golden/init.json: how PyTorch's and Hugging Face's own models start, measured on the models they make.

    .peers/bin/python tools/make_init_goldens.py

One entry for each rule of ours and each kind of parameter: the standard deviation over all elements of all layers, and how many
elements that is, so that a test knows how exact it can be. Weights of T5's queries are multiplied by sqrt(d_head): its attention
has no scale of its own, ours has.
"""
import json
import math
from pathlib import Path

import torch
import transformers

LAYERS, WIDTH, HEADS, INNER, WORDS, POSITIONS = 6, 256, 4, 1024, 3000, 512
torch.manual_seed(1)


def entry(rule, role, tensors, times=1.0):
    values = torch.cat([t.detach().double().flatten() for t in tensors]) * times
    return {"rule": rule, "role": role, "std": values.square().mean().sqrt().item(), "elements": values.numel()}


def gpt2():
    sizes = dict(n_layer=LAYERS, n_embd=WIDTH, n_head=HEADS, n_inner=INNER, vocab_size=WORDS, n_positions=POSITIONS,
                 bos_token_id=None, eos_token_id=None)
    m = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes)).transformer
    yield entry("gpt2", "q", [b.attn.c_attn.weight for b in m.h])
    yield entry("gpt2", "attention_out", [b.attn.c_proj.weight for b in m.h])
    yield entry("gpt2", "ffn_in", [b.mlp.c_fc.weight for b in m.h])
    yield entry("gpt2", "ffn_out", [b.mlp.c_proj.weight for b in m.h])
    yield entry("gpt2", "token_embedding", [m.wte.weight])
    yield entry("gpt2", "position_embedding", [m.wpe.weight])


def bert():
    sizes = dict(num_hidden_layers=LAYERS, hidden_size=WIDTH, num_attention_heads=HEADS, intermediate_size=INNER,
                 vocab_size=WORDS, max_position_embeddings=POSITIONS, pad_token_id=None)
    m = transformers.BertModel(transformers.BertConfig(**sizes))
    layers = m.encoder.layer
    yield entry("bert", "q", [b.attention.self.query.weight for b in layers])
    yield entry("bert", "attention_out", [b.attention.output.dense.weight for b in layers])
    yield entry("bert", "ffn_in", [b.intermediate.dense.weight for b in layers])
    yield entry("bert", "ffn_out", [b.output.dense.weight for b in layers])
    yield entry("bert", "token_embedding", [m.embeddings.word_embeddings.weight])
    yield entry("bert", "position_embedding", [m.embeddings.position_embeddings.weight])


def t5():
    sizes = dict(num_layers=LAYERS, d_model=WIDTH, num_heads=HEADS, d_kv=WIDTH // HEADS, d_ff=INNER, vocab_size=WORDS,
                 tie_word_embeddings=False)
    m = transformers.T5ForConditionalGeneration(transformers.T5Config(**sizes))
    attention = [b.layer[0].SelfAttention for b in m.encoder.block]
    inner = [b.layer[1].DenseReluDense for b in m.encoder.block]
    yield entry("t5", "q", [a.q.weight for a in attention], math.sqrt(WIDTH // HEADS))
    yield entry("t5", "k", [a.k.weight for a in attention])
    yield entry("t5", "v", [a.v.weight for a in attention])
    yield entry("t5", "attention_out", [a.o.weight for a in attention])
    yield entry("t5", "ffn_in", [f.wi.weight for f in inner])
    yield entry("t5", "ffn_out", [f.wo.weight for f in inner])
    yield entry("t5", "token_embedding", [m.shared.weight])
    yield entry("t5", "head", [m.lm_head.weight])


def pytorch():
    m = torch.nn.Transformer(WIDTH, HEADS, LAYERS, 1, INNER, batch_first=True)
    layers = m.encoder.layers
    for i, role in enumerate("qkv"):
        rows = slice(i * WIDTH, (i + 1) * WIDTH)
        yield entry("pytorch", role, [b.self_attn.in_proj_weight[rows] for b in layers])
    yield entry("pytorch", "attention_out", [b.self_attn.out_proj.weight for b in layers])
    yield entry("pytorch", "ffn_in", [b.linear1.weight for b in layers])
    yield entry("pytorch", "ffn_out", [b.linear2.weight for b in layers])
    yield entry("pytorch", "bias of W_1", [b.linear1.bias for b in layers])
    yield entry("pytorch", "bias of W_2", [b.linear2.bias for b in layers])
    yield entry("pytorch", "bias of attention", [b.self_attn.in_proj_bias for b in layers])
    yield entry("pytorch", "token_embedding", [torch.nn.Embedding(WORDS, WIDTH).weight])
    yield entry("pytorch", "head", [torch.nn.Linear(WIDTH, WORDS).weight])


def main():
    golden = {"made_by": "tools/make_init_goldens.py",
              "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
              "layers": LAYERS, "d_model": WIDTH, "heads": HEADS, "d_ff": INNER, "vocab": WORDS, "seq_len": POSITIONS,
              "entries": [e for family in (gpt2, bert, t5, pytorch) for e in family()]}
    path = Path(__file__).resolve().parent.parent / "tests" / "golden" / "init.json"
    path.write_text(json.dumps(golden, indent=1) + "\n")


if __name__ == "__main__":
    main()
