#!/usr/bin/env python3
"""Draws the configurations on which preflight's rule is measured: a grid for `addnorm lab --grid`.

Every way to start (INITS) meets every placement of the norm (PLACEMENTS) on the built-in language and on text by characters, with
depth, width, rate, warm-up, tying of the head and seed drawn at random; then come other optimizers, small batches and other norms,
with a start drawn at random. From a fixed seed, so that nobody could choose what the rule is good at. Another --seed draws others:
what a rule was changed on must not be what it is measured on.

usage: tools/draw_held_out.py [--seed N] [--times N] TEXT... > held-out.json
"""
import argparse
import json
import math
import random

SEED = 20261119
FRAGILE = "admin b2t xskip-ln ds-init rskip dlcl-post deepnorm".split()
STURDY = (
    "pre-ln-nofinal sandwich peri-ln rezero skipinit layerscale lns scaled-res parallel parallel-2ln keel resi-dual mix-ln sub-ln "
    "normformer res-post denseformer dlcl-pre t-fixup"
).split()
HOPELESS = "plain plain-ln residual".split()
NORMLESS = "plain residual rezero skipinit t-fixup".split()
PLACEMENTS = ("post-ln", "norm-skip", "pre-ln", None)  # none: drawn from the others
RATES = {  # from and to
    "adam": (2e-5, 4e-3),
    "adamw": (1e-4, 4e-3),
    "radam": (1e-4, 4e-3),
    "adafactor": (5e-4, 2e-2),
    "sgd": (0.01, 0.2),
}
USUAL = 8e-4  # three in four of Adam's rates are above: there it is decided by more than the pace
INITS = (
    lambda layers: {},  # of the arrangement
    lambda layers: {"init": "xavier"},
    lambda layers: {"init": "xavier", "branch_scale": float(f"{1 / math.sqrt(2 * layers):.3g}")},
    lambda layers: {"init": "gpt2"},
    lambda layers: {"init": "gpt2", "embedding_std": 0.125},
    lambda layers: {"init": "gpt2", "embedding_std": 0.5},
)


def other_arrangement(draw):
    return draw.choice(draw.choices((FRAGILE, STURDY, HOPELESS), (5, 5, 1))[0])


def any_arrangement(draw):
    return draw.choice(PLACEMENTS) or other_arrangement(draw)


def rate(draw, optimizer):
    least, most = RATES[optimizer]
    if optimizer == "adam" and draw.random() < 3 / 4:
        least = USUAL
    return float(f"{math.exp(draw.uniform(math.log(least), math.log(most))):.2g}")


def row(draw, arrangement, init, depths, widths, optimizer="adam", **more):
    layers = draw.choice(depths)
    d_model, heads = draw.choice(widths)
    drawn = {
        "arrangement": arrangement,
        "layers": layers,
        "d_model": d_model,
        "heads": heads,
        "optimizer": optimizer,
        "lr": rate(draw, optimizer),
        "warmup_steps": draw.choice((0, 0, 0, 0, 10, 40)),
        "tied": draw.random() < 3 / 4,
        "seed": draw.randrange(1000, 9999),
        **init(layers),
        **more,
    }
    if arrangement in NORMLESS:
        drawn.pop("norm", None)
    if arrangement == "t-fixup":  # its formula says how embeddings start
        drawn.pop("embedding_std", None)
    return drawn


def crossed(draw, times, texts):
    on_text = 0
    for _ in range(times):
        for init in INITS:
            for placement in PLACEMENTS:
                arrangement = placement or other_arrangement(draw)
                yield row(draw, arrangement, init, (6, 8, 10, 12), ((24, 2), (40, 4), (56, 2), (72, 4)), batch_size=draw.choice((8, 11)))
                text = {"data": texts[on_text % len(texts)], "tokenizer": "chars"}
                on_text += 1
                arrangement = placement or other_arrangement(draw)
                yield row(draw, arrangement, init, (3, 6, 8, 10, 12), ((24, 2), (40, 4), (56, 2)), batch_size=draw.choice((8, 11)), **text)


def others(draw, times):
    narrow = ((40, 4), (56, 2))
    for _ in range(times):
        for optimizer in ("adamw", "radam", "adafactor", "sgd"):
            yield row(draw, any_arrangement(draw), draw.choice(INITS), (6, 8, 12), narrow, optimizer, batch_size=11)
        for batch_size in (2, 5):  # hardly any tokens in a step
            yield row(draw, any_arrangement(draw), draw.choice(INITS), (6, 10), narrow, batch_size=batch_size, seq_len=20)
        for norm, activation in (("rmsnorm", "swiglu"), ("rmsnorm", "gelu"), ("layernorm", "silu"), ("layernorm", "relu")):
            yield row(draw, any_arrangement(draw), draw.choice(INITS), (6, 8, 12), narrow, norm=norm, activation=activation)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", nargs="+", metavar="TEXT", help="a file that is read by characters")
    parser.add_argument("--seed", type=int, default=SEED, help="of the draw (default: %(default)s)")
    parser.add_argument("--times", type=int, default=2, help="so often every start meets every placement (default: %(default)s)")
    asked = parser.parse_args()
    draw = random.Random(asked.seed)
    study = {
        "base": {"steps": 300, "schedule": "constant", "seq_len": 64, "batch_size": 8},
        "seeds": 1,
        "with_warmup": 200,
        "rows": [*crossed(draw, asked.times, asked.texts), *others(draw, asked.times)],
    }
    print(json.dumps(study, indent=1))


main()
