#!/usr/bin/env python3
"""Draws what docs/grids/branch-strength.json measures: trained or not, by strength of the branches at the start and by depth.

One row of panels per text, one panel per placement, the closed-form skip gain as lines over it. Prints, as a table for the docs,
how many runs lie on the wrong side of the best threshold on the skip gain, beside one on the strength, the depth, or both.

usage: tools/draw_branch_map.py OUT.svg NAME=RUNS...      RUNS: a folder of `addnorm lab --grid docs/grids/branch-strength.json`
"""
import json
import math
import pathlib
import sys

CELL_WIDTH, CELL_HEIGHT = 36, 24
LEFT, TOP, GAP, ROW_GAP, BOTTOM = 62, 76, 40, 58, 66
LINES = (0.5, 0.1, 0.01, 0.001)
TRAINED, STUCK, LINE, INK, PAPER = "#2f7d4f", "#e3e0d8", "#b3401f", "#1f2328", "#ffffff"
TITLES = {"pre-ln": "pre-LN:  x + F(LN(x))", "post-ln": "post-LN:  LN(x + F(x))", "norm-skip": "misprint:  LN(x) + F(LN(x))"}


# What is left of the input on the skip path alone after L layers of two units whose branches are s times as strong as what they
# read, and the strength at which it is g: include/addnorm/residual/explain.h derives it. The misprint is post-LN whose first norm
# comes before everything and whose last is the final one, so it has post-LN's.
def post_norm_gain(s, layers):
    return (1 + s * s) ** -layers


def pre_norm_gain(s, layers):
    return 1 / math.sqrt(1 + 2 * layers * s * s)


def post_norm_strength(g, layers):
    return math.sqrt(g ** (-1 / layers) - 1)


def pre_norm_strength(g, layers):
    return math.sqrt((g**-2 - 1) / (2 * layers))


GAINS = {"pre-ln": pre_norm_gain, "post-ln": post_norm_gain, "norm-skip": post_norm_gain}
STRENGTHS = {"pre-ln": pre_norm_strength, "post-ln": post_norm_strength, "norm-skip": post_norm_strength}


class Point:
    """One run of the grid."""

    def __init__(self, row):
        options = row["options"]
        self.placement, self.layers, self.strength = options["arrangement"], options["layers"], options["branch_scale"]
        self.loss, self.trained = row["loss"]["mean"], 2 * row["trained"] > row["done"]
        self.gain = GAINS[self.placement](self.strength, self.layers)
        said = row["skip_gain_predicted"]
        if not math.isclose(said, self.gain, rel_tol=1e-6):
            sys.exit(f"{row['label']}: skip gain {said:g} in lab.json, {self.gain:g} here")


def read(folder):
    lab = json.loads((pathlib.Path(folder) / "lab.json").read_text())
    if not lab["finished"]:
        sys.exit(f"{folder}: the lab has not ended")
    return [Point(row) for row in lab["rows"]]


def place(value, ticks):
    """Where a value lies on an axis of equal cells, as a number of cells; between ticks by its logarithm."""
    below = max(i for i in range(len(ticks) - 1) if i == 0 or ticks[i] <= value)
    low, high = math.log(ticks[below]), math.log(ticks[below + 1])
    return below + 0.5 + (math.log(value) - low) / (high - low)


def value_at(cells, ticks):
    """The value that lies there: place() turned round."""
    below = min(max(int(cells - 0.5), 0), len(ticks) - 2)
    return ticks[below] * (ticks[below + 1] / ticks[below]) ** (cells - 0.5 - below)


def fraction(value):
    return f"1/{round(1 / value)}" if value < 1 else f"{value:g}"


def number(loss):
    """A run that broke off has no loss at its end."""
    return "–" if loss is None else f"{loss:.2f}"


def text(x, y, words, size=12, anchor="middle", more="", ink=INK):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{ink}"{more}>{words}</text>'


class Panel:
    def __init__(self, placement, points, x, y):
        self.placement, self.points, self.x, self.y = placement, points, x, y
        self.strengths, self.depths = sorted({p.strength for p in points}), sorted({p.layers for p in points})
        self.width, self.height = CELL_WIDTH * len(self.strengths), CELL_HEIGHT * len(self.depths)

    def draw(self):
        places = [(p, self.x + CELL_WIDTH * self.strengths.index(p.strength), self.y + CELL_HEIGHT * self.depths.index(p.layers)) for p in self.points]
        for p, x, y in places:
            what = f"{p.layers} layers, branches x {fraction(p.strength)}: loss {number(p.loss)}, skip gain {p.gain:.2g}"
            size = f'width="{CELL_WIDTH - 1}" height="{CELL_HEIGHT - 1}"'
            yield f'<rect x="{x}" y="{y}" {size} fill="{TRAINED if p.trained else STUCK}"><title>{what}</title></rect>'
        for gain in LINES:
            yield from self.line(gain)
        for p, x, y in places:
            yield text(x + CELL_WIDTH / 2, y + CELL_HEIGHT - 8, number(p.loss), 10, more=' pointer-events="none"', ink=PAPER if p.trained else INK)
        for i, strength in enumerate(self.strengths):
            yield text(self.x + CELL_WIDTH * (i + 0.5), self.y + self.height + 14, fraction(strength), 11)

    def line(self, gain):
        at = []
        for step in range(101):
            down = len(self.depths) * step / 100
            strength = STRENGTHS[self.placement](gain, value_at(down, self.depths))
            across = place(strength, self.strengths)
            if 0 <= across <= len(self.strengths):
                at.append((self.x + CELL_WIDTH * across, self.y + CELL_HEIGHT * down))
        if len(at) < 2:
            return
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
        yield f'<polyline points="{path}" fill="none" stroke="{PAPER}" stroke-width="3.5" opacity="0.7"/>'
        yield f'<polyline points="{path}" fill="none" stroke="{LINE}" stroke-width="1.6"/>'
        (x, y), at_top = at[0], at[0][1] == self.y
        yield text(x, y - 4, f"{gain:g}", 10, ink=LINE) if at_top else text(x + 4, y + 4, f"{gain:g}", 10, "start", ink=LINE)


def draw(texts):
    placements = [name for name in TITLES if any(p.placement == name for p in texts[0][1])]
    out, y = [], TOP
    for name, points in texts:
        x = LEFT
        for placement in placements:
            panel = Panel(placement, [p for p in points if p.placement == placement], x, y)
            if y == TOP:
                out.append(text(x + panel.width / 2, y - 40, TITLES[placement], 13, more=' font-weight="600"'))
            if x == LEFT:
                out.append(text(LEFT, y - 19, name, 12, "start", ' font-style="italic"'))
                out += [text(x - 8, y + CELL_HEIGHT * (i + 0.65), depth, 11, "end") for i, depth in enumerate(panel.depths)]
                middle = y + panel.height / 2
                out.append(text(16, middle, "layers", 12, more=f' transform="rotate(-90 16 {middle})"'))
            out += panel.draw()
            x += panel.width + GAP
        y += panel.height + ROW_GAP
    width, height = x - GAP + 34, y - ROW_GAP + BOTTOM
    out.append(text(width / 2, height - 26, "branches at the start: factor on W_o and W_2 of Xavier's draws", 12))
    key = "green: trained in 300 steps (Adam 1e-3, no warm-up), with the loss at the end; grey: not; lines: closed-form skip gain"
    out.append(text(width / 2, height - 8, key, 11))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="system-ui, sans-serif">'
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="{PAPER}"/>', *out, "</svg>"]) + "\n"


def best_split(points, value):
    """Runs on the wrong side of the best threshold: those above it train, those below do not, or the other way round."""
    cuts = sorted({value(p) for p in points})
    wrong = [sum(p.trained != (value(p) >= cut) for p in points) for cut in [*cuts, math.inf]]
    return min(*wrong, *(len(points) - w for w in wrong))


def main():
    if len(sys.argv) < 3 or any("=" not in asked for asked in sys.argv[2:]):
        sys.exit(__doc__.strip())
    texts = [(name, read(folder)) for name, folder in (asked.split("=", 1) for asked in sys.argv[2:])]
    pathlib.Path(sys.argv[1]).write_text(draw(texts))
    rules = {"skip gain": lambda p: p.gain, "strength": lambda p: p.strength, "depth": lambda p: p.layers, "strength x depth": lambda p: p.strength * p.layers}
    print(f"| text | placement | trained | wrong by {' | by '.join(rules)} |\n|{' --- |' * (3 + len(rules))}")
    for name, points in texts:
        for placement in TITLES:
            of = [p for p in points if p.placement == placement]
            wrong = [best_split(of, value) for value in rules.values()]
            print(f"| {name} | {placement} | {sum(p.trained for p in of)} of {len(of)} | {' | '.join(map(str, wrong))} |")


if __name__ == "__main__":
    main()
