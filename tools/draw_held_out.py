#!/usr/bin/env python3
"""Draws the configurations on which preflight's rule is measured: a grid for `addnorm lab --grid`.

None of them was looked at when the rule was set: widths, depths, rates, warm-ups and texts differ from those that set it
(docs/preflight.md). Drawn at random, from a fixed seed, so that nobody could choose what the rule is good at; arrangements that
fail now and then are drawn more often, so that every class has its share. The texts are two that every Debian has.

usage: tools/draw_held_out.py > held-out.json
"""
import json
import math
import random

FRAGILE = "post-ln norm-skip admin b2t xskip-ln ds-init rskip dlcl-post deepnorm".split()
HOPELESS = "plain plain-ln residual".split()
STURDY = (
    "pre-ln pre-ln-nofinal sandwich peri-ln rezero skipinit layerscale lns scaled-res parallel parallel-2ln keel resi-dual mix-ln "
    "sub-ln normformer res-post denseformer dlcl-pre t-fixup"
).split()
DEEP_FRAGILE = "post-ln norm-skip xskip-ln ds-init rskip".split()
NORMLESS = "plain residual rezero skipinit t-fixup".split()
RATES = {  # from and to
    "adam": (2e-5, 4e-3),
    "adamw": (1e-4, 4e-3),
    "radam": (1e-4, 4e-3),
    "adafactor": (5e-4, 2e-2),
    "sgd": (0.01, 0.2),
}
USUAL = 8e-4  # three in four of Adam's rates are above: there it is decided by more than the pace
TEXTS = ("/usr/share/common-licenses/MPL-1.1", "/usr/share/common-licenses/MPL-2.0")


def arrangement(draw):
    group = draw.choices((FRAGILE, HOPELESS, STURDY), (10, 1, 4))[0]
    return draw.choices(group, [4 if name in ("post-ln", "norm-skip") else 1 for name in group])[0]


def rate(draw, optimizer):
    least, most = RATES[optimizer]
    if optimizer == "adam" and draw.random() < 3 / 4:
        least = USUAL
    return float(f"{math.exp(draw.uniform(math.log(least), math.log(most))):.2g}")


def row(draw, optimizer, depths, **more):
    return {
        "arrangement": arrangement(draw),
        "layers": draw.choice(depths),
        "optimizer": optimizer,
        "lr": rate(draw, optimizer),
        "warmup_steps": draw.choice((0, 0, 0, 0, 10, 40)),
        "seed": draw.randrange(1000, 9999),
        **more,
    }


def width(draw, *choices):
    d_model, heads = draw.choice(choices)
    return {"d_model": d_model, "heads": heads}


def rows(draw):
    for _ in range(48):  # the built-in language
        yield row(draw, "adam", (6, 8, 10, 12, 16), batch_size=draw.choice((8, 11)), **width(draw, (24, 2), (40, 4), (56, 2), (72, 4), (88, 4)))
    for optimizer in ("adamw", "radam", "adafactor", "sgd"):
        for _ in range(4):
            yield row(draw, optimizer, (6, 8, 12), batch_size=11, **width(draw, (40, 4), (56, 2)))
    for text in TEXTS:
        for _ in range(6):
            yield row(draw, "adam", (3, 6, 10), batch_size=11, data=text, tokenizer="chars", **width(draw, (40, 4), (72, 4)))
    for _ in range(6):  # hardly any tokens in a step
        yield row(draw, "adam", (6, 10), batch_size=draw.choice((2, 5)), seq_len=20, **width(draw, (40, 4), (72, 4)))
    for norm, activation in (("rmsnorm", "swiglu"), ("rmsnorm", "gelu"), ("layernorm", "silu"), ("layernorm", "relu")):
        for _ in range(3):
            drawn = row(draw, "adam", (6, 8, 12), norm=norm, activation=activation, **width(draw, (40, 4), (56, 2)))
            yield {name: value for name, value in drawn.items() if name != "norm" or drawn["arrangement"] not in NORMLESS}
    for depths, count in (((8, 10, 12), 16), ((14, 18, 24), 8), ((8, 10, 12), 16)):  # where a warm-up helps, and where nothing does
        for _ in range(count):
            drawn = row(draw, "adam", depths, batch_size=8, **width(draw, (40, 4), (56, 2)))
            yield {**drawn, "arrangement": draw.choice(DEEP_FRAGILE), "warmup_steps": 0}


def main():
    study = {
        "base": {"steps": 300, "schedule": "constant", "seq_len": 64, "batch_size": 8},
        "seeds": 1,
        "with_warmup": 200,
        "rows": list(rows(random.Random(20261118))),
    }
    print(json.dumps(study, indent=1))


main()
