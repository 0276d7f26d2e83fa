#!/usr/bin/env python3
"""Makes tests/golden/tokenizers.json: small tokenizers of many kinds, and what Hugging Face's `tokenizers` gives for many texts.

    python3 -m venv venv && venv/bin/pip install tokenizers==0.23.3
    venv/bin/python tools/make_tokenizer_goldens.py

The same version gives the same bytes. tests/data/tokenizer/tokenizer_test.cpp reads the file; it needs no Python.
"""
import collections
import json
import pathlib

import tokenizers
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

# Written for this file: enough different words for a few merges in several scripts.
CORPUS = """
The stream carries what every layer adds, and the norm keeps it in bounds. Layers read, layers write; nothing is lost.
Where does the norm stand: before the branch, behind it, or behind the sum? It's the question that we've asked 1024 times.
Der Strom trägt, was jede Schicht hinzufügt; früher oder später zählt, wo die Norm steht. Größe, Maß, Fuß.
Où placer la norme : avant la branche, après elle ? C'est la question déjà posée à l'été 2023.
Ток несёт всё, что добавляют слои, и норма держит его в границах.
流把每一层加上的东西带走，归一化让它保持在界内。层读，层写。
ストリームは各層が加えたものを運ぶ。
numbers 3.14 2,718 1000000 x86_64 snake_case camelCase don't I'll you're we'd HELLO World
""".strip().split("\n") * 3

TEXTS = [
    "", " ", "  ", "\n", "\t\t x", "a", "The norm stands before the branch.", "the stream, the sum; the LAYERS!", "Hello  world   again",
    " leading and trailing ", "line one\nline two\r\n\r\nline four\n", "I'll say it's what they're at; we'VE don't 's 'tis ''s",
    "Größe Fuß trägt ÄÖÜ éèê", "e\u0301 o\u0308 A\u030A \u0301alone n\u0303o", "\u1E9B\u0323 \uFB01 \u00BD \u2460 \uFF21\uFF22 \u212B",
    "İstanbul ISPARTA ΟΔΟΣ ΑΣ ǅ", "流把每一层加上的东西带走，层。", "ストリーム ガ が\u3099", "한국어 \u1112\u1161\u11AB", "слои и нормы",
    "\U0001F680 go \U0001F636\u200D\U0001F32B\uFE0F \u2705 \U0001FAE0", "zero\u0000nul \u0007bell \u200Bzwsp \uFEFFbom \u00ADsoft \uFFFDreplacement",
    "nbsp\u00A0here \u2003em \u3000wide \u0085nel \u2028ls \u000Bvt \u000Cff", "a_b x86_64 3.14 1000000 ٣٤ Ⅷ ½", "<s>text</s> <mask> [MASK] [CLS]x[SEP] <pad>",
    "x <mask>  y <mask>z", "stop STOP stopped nonstop stop. Stop", "w" * 99 + " " + "w" * 100 + " " + "w" * 101, "ab" * 300, "!!! ... ?! -- __ ~~ $+<=>^`|",
    "\u0915\u094D\u0937\u093F \u0E01\u0E33 \u0623\u064E", "tab\tend \n\n  x\n y", "\U00020000\U0002B820\U0002B920 \uF900", "\uE000 \U0010FFFF \u0378",
    "▁under ▁▁ _", "don't  stop\u00A0 now ", "mixed 层layer層 12层",
]


def trained(model, trainer, **parts):
    tokenizer = Tokenizer(model)
    for name, part in parts.items():
        setattr(tokenizer, name, part)
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def bpe(size, special=(), alphabet=(), unk=None, **parts):
    model_options = {key: parts.pop(key) for key in ("byte_fallback", "fuse_unk", "ignore_merges") if key in parts}
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=list(special), initial_alphabet=list(alphabet), show_progress=False)
    return trained(models.BPE(unk_token=unk, **model_options), trainer, **parts)


def wordpiece(size, **parts):
    """Not trained: the trainer's choice among equals differs from run to run. Characters, then the most frequent words and endings."""
    counts = collections.Counter()
    for line in CORPUS:
        for word, _ in parts["pre_tokenizer"].pre_tokenize_str(parts["normalizer"].normalize_str(line)):
            for end in range(1, len(word)):
                counts["##" + word[end:]] += 1
                counts["##" + word[end:end + 2]] += 1
            counts[word] += 1
    characters = sorted({character for line in CORPUS for character in parts["normalizer"].normalize_str(line)} - {" "})
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + characters + ["##" + character for character in characters]
    vocab += [token for token, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if token not in vocab]
    made = Tokenizer(models.WordPiece(vocab={token: i for i, token in enumerate(vocab[:size])}, unk_token="[UNK]"))
    for name, part in parts.items():
        setattr(made, name, part)
    made.add_special_tokens(vocab[:5])
    return made


def split(pattern, behavior, invert=False):
    return bpe(200, ["<unk>"], unk="<unk>", pre_tokenizer=pre_tokenizers.Split(pattern, behavior, invert), decoder=decoders.Fuse())


BYTES = sorted(pre_tokenizers.ByteLevel.alphabet())
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def bert(lower):
    made = wordpiece(400, normalizer=normalizers.BertNormalizer(lowercase=lower, handle_chinese_chars=lower),
                     pre_tokenizer=pre_tokenizers.BertPreTokenizer(), decoder=decoders.WordPiece())
    cls, sep = made.token_to_id("[CLS]"), made.token_to_id("[SEP]")
    made.post_processor = (processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]", [("[CLS]", cls), ("[SEP]", sep)])
                           if lower else processors.BertProcessing(("[SEP]", sep), ("[CLS]", cls)))
    return made


def roberta():
    made = bpe(340, ["<s>", "<pad>", "</s>", "<unk>"], BYTES, pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=True),
               decoder=decoders.ByteLevel())
    made.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    made.post_processor = processors.RobertaProcessing(("</s>", made.token_to_id("</s>")), ("<s>", made.token_to_id("<s>")))
    return made


def llama2():
    special = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)]
    made = bpe(420, special, unk="<unk>", byte_fallback=True, fuse_unk=True,
               normalizer=normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]),
               decoder=decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]))
    saved = json.loads(made.to_str())  # the bytes are ordinary tokens, not added ones
    saved["added_tokens"] = saved["added_tokens"][:3]
    return Tokenizer.from_str(json.dumps(saved))


def with_added():
    made = bpe(300, [], BYTES, normalizer=normalizers.Lowercase(), pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False),
               decoder=decoders.ByteLevel())
    made.add_tokens([AddedToken("STOP", single_word=True, normalized=True), AddedToken("LAYER", normalized=False),
                     AddedToken("norm", rstrip=True, lstrip=True), AddedToken("norm stands"), AddedToken("層")])
    made.add_special_tokens([AddedToken("[CLS]", rstrip=True), AddedToken("[SEP]", lstrip=True), "<pad>"])
    return made


def tokenizers_made():
    yield "bert-uncased", bert(True)
    yield "bert-cased", bert(False)
    yield "roberta", roberta()
    yield "llama-2", llama2()
    yield "llama-3", bpe(330, ["<|begin_of_text|>", "<|end_of_text|>"], BYTES, ignore_merges=True, decoder=decoders.ByteLevel(),
                         pre_tokenizer=pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA3), "isolated"),
                                                                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]))
    yield "nfc", bpe(300, [], BYTES, normalizer=normalizers.NFC(), pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False),
                     decoder=decoders.ByteLevel())
    yield "added", with_added()
    for name, scheme, splits in [("metaspace-always", "always", True), ("metaspace-first", "first", True), ("metaspace-whole", "never", False)]:
        made = bpe(260, ["<unk>", "<pad>"], unk="<unk>", pre_tokenizer=pre_tokenizers.Metaspace(prepend_scheme=scheme, split=splits),
                   decoder=decoders.Metaspace(prepend_scheme=scheme, split=splits))
        made.enable_padding(pad_id=1, pad_token="<pad>")
        yield name, made
    yield "whitespace", bpe(240, ["<unk>"], unk="<unk>", fuse_unk=True, pre_tokenizer=pre_tokenizers.Whitespace(), normalizer=normalizers.Sequence(
        [normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase()]))
    yield "nfkc-strip", bpe(240, ["<unk>"], unk="<unk>", pre_tokenizer=pre_tokenizers.WhitespaceSplit(), decoder=decoders.Fuse(), normalizer=normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Strip(), normalizers.Replace(Regex("[0-9]+"), "0"), normalizers.NFD()]))
    yield "digits", bpe(300, [], BYTES, decoder=decoders.ByteLevel(), pre_tokenizer=pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(True), pre_tokenizers.Punctuation(), pre_tokenizers.ByteLevel(add_prefix_space=True)]))
    yield "digit-runs", bpe(200, ["<unk>"], unk="<unk>", decoder=decoders.Fuse(), pre_tokenizer=pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Digits(False), pre_tokenizers.CharDelimiterSplit("_")]))
    for behavior in ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"):
        yield f"punctuation-{behavior}", bpe(180, ["<unk>"], unk="<unk>", decoder=decoders.Fuse(), pre_tokenizer=pre_tokenizers.Punctuation(behavior))
        yield f"split-{behavior}", split("e", behavior)
    yield "split-regex-inverted", split(Regex(r"\w+|\s"), "removed", True)


def cases(tokenizer):
    for text in TEXTS:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        yield {"text": text, "ids": ids, "decoded": tokenizer.decode(ids)}


def main():
    into = pathlib.Path(__file__).resolve().parent.parent / "tests/golden/tokenizers.json"
    with open(into, "w", encoding="utf-8") as file:
        file.write('{"version": %s,\n "texts": %s,\n "tokenizers": [\n' % (json.dumps(tokenizers.__version__), json.dumps(TEXTS)))
        for i, (name, tokenizer) in enumerate(tokenizers_made()):
            tokenizer.no_padding() if not name.startswith("metaspace") else None
            made = {"name": name, "ids": [case["ids"] for case in cases(tokenizer)], "decoded": [case["decoded"] for case in cases(tokenizer)],
                    "tokenizer": json.loads(tokenizer.to_str())}
            file.write((",\n" if i else "") + json.dumps(made, ensure_ascii=False, separators=(",", ":")))
        file.write("\n]}\n")
    print(into, into.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
