"""Makes tests/golden/import/: tiny models of each family with what transformers computes of them.

    "$(scripts/peers --python)" tools/make_import_goldens.py

A folder per model as save_pretrained writes it (config.json, model.safetensors; one in shards), with golden.safetensors beside it:
`ids` [batch, tokens], `lengths` [batch], `types` where the model has token types, and `logits` or, of a model without a head,
`vectors`, both computed in float64. Every parameter is drawn anew, norms and biases too: what starts as 1 or 0 proves little.
The same versions give the same bytes; tests/golden/README.md says which made the committed files.
"""
import json
import pathlib
import shutil

import safetensors.torch
import torch
import transformers

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "golden" / "import"
SIZES = dict(vocab_size=31, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, intermediate_size=24)
LENGTHS = [7, 5]
PAD = 1

BERT = dict(SIZES, max_position_embeddings=12, pad_token_id=PAD)
LLAMA = dict(SIZES, max_position_embeddings=12, num_key_value_heads=2, rms_norm_eps=1e-5, pad_token_id=PAD, bos_token_id=2, eos_token_id=3)
OPT = dict(vocab_size=31, hidden_size=16, num_hidden_layers=2, num_attention_heads=4, ffn_dim=24, max_position_embeddings=12,
           word_embed_proj_dim=16, pad_token_id=PAD, bos_token_id=2, eos_token_id=3)

t = transformers
MODELS = {
    "gpt2": lambda: t.GPT2LMHeadModel(t.GPT2Config(vocab_size=31, n_embd=16, n_layer=2, n_head=4, n_positions=12, n_inner=24,
                                                   bos_token_id=2, eos_token_id=3)),
    "gpt2-untied": lambda: t.GPT2LMHeadModel(t.GPT2Config(vocab_size=31, n_embd=16, n_layer=2, n_head=4, n_positions=12,
                                                          activation_function="gelu", layer_norm_epsilon=1e-3,
                                                          tie_word_embeddings=False, bos_token_id=2, eos_token_id=3)),
    "bert-masked": lambda: t.BertForMaskedLM(t.BertConfig(**BERT)),
    "bert": lambda: t.BertModel(t.BertConfig(**BERT, hidden_act="relu", layer_norm_eps=1e-5)),
    "roberta-masked": lambda: t.RobertaForMaskedLM(t.RobertaConfig(**{**BERT, "max_position_embeddings": 14},
                                                                   type_vocab_size=1, bos_token_id=2, eos_token_id=3)),
    "distilbert-masked": lambda: t.DistilBertForMaskedLM(t.DistilBertConfig(
        vocab_size=31, dim=16, n_layers=2, n_heads=4, hidden_dim=24, max_position_embeddings=12, pad_token_id=PAD)),
    "llama": lambda: t.LlamaForCausalLM(t.LlamaConfig(**LLAMA, tie_word_embeddings=False, rope_theta=500.0)),
    "llama-tied-biased": lambda: t.LlamaForCausalLM(t.LlamaConfig(**{**LLAMA, "num_key_value_heads": 4}, tie_word_embeddings=True,
                                                                  attention_bias=True, head_dim=6)),
    "opt": lambda: t.OPTForCausalLM(t.OPTConfig(**OPT)),
    "opt-post": lambda: t.OPTForCausalLM(t.OPTConfig(**OPT, do_layer_norm_before=False)),
    # OPT-350m's kind: token vectors of a width of their own.
    "opt-projected": lambda: t.OPTForCausalLM(t.OPTConfig(**{**OPT, "word_embed_proj_dim": 6}, do_layer_norm_before=False)),
    "bert-decoder": lambda: t.BertLMHeadModel(t.BertConfig(**BERT, is_decoder=True)),
    "mistral": lambda: t.MistralForCausalLM(t.MistralConfig(**LLAMA, sliding_window=None)),
    "qwen2": lambda: t.Qwen2ForCausalLM(t.Qwen2Config(**LLAMA, tie_word_embeddings=True)),
    "qwen3": lambda: t.Qwen3ForCausalLM(t.Qwen3Config(**LLAMA, head_dim=6, tie_word_embeddings=False)),
    "olmo2": lambda: t.Olmo2ForCausalLM(t.Olmo2Config(**LLAMA, tie_word_embeddings=False)),
}
SHARDED = {"llama": "8KB"}


def draw(model, seed):
    """Matrices with gain, so that every part counts; norms and biases away from 1 and 0."""
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=random, dtype=torch.float64)
            if parameter.dim() > 1:
                parameter.copy_(noise * 0.6 / parameter.shape[-1] ** 0.5)
            else:
                parameter.add_(0.3 * noise)


def golden(model, name):
    random = torch.Generator().manual_seed(sum(map(ord, name)))
    ids = torch.randint(4, 31, (len(LENGTHS), max(LENGTHS)), generator=random)
    mask = torch.zeros_like(ids)
    for row, length in enumerate(LENGTHS):
        ids[row, length:] = PAD
        mask[row, :length] = 1
    given = dict(input_ids=ids, attention_mask=mask)
    out = dict(ids=ids, lengths=torch.tensor(LENGTHS))
    if getattr(model.config, "type_vocab_size", 1) > 1:
        out["types"] = given["token_type_ids"] = (torch.arange(ids.shape[1]) >= 3).long().expand_as(ids).contiguous()
    with torch.no_grad():
        result = model.double().eval()(**given)
    kind = "logits" if hasattr(result, "logits") else "vectors"
    out[kind] = (result.logits if kind == "logits" else result.last_hidden_state).double()
    return out


def main():
    torch.set_num_threads(1)  # the same bytes on any machine
    shutil.rmtree(FOLDER, ignore_errors=True)
    for seed, (name, make) in enumerate(MODELS.items()):
        torch.manual_seed(seed)
        model = make().float()
        draw(model, 1000 + seed)
        folder = FOLDER / name
        model.save_pretrained(folder, max_shard_size=SHARDED.get(name, "1GB"))
        (folder / "generation_config.json").unlink(missing_ok=True)
        safetensors.torch.save_file(golden(model, name), folder / "golden.safetensors")
        print(name, sum(f.stat().st_size for f in folder.iterdir()), sorted(f.name for f in folder.iterdir()))


if __name__ == "__main__":
    main()
