#!/usr/bin/env python3
"""Draws the house from its sources: layers, the rooms in each, and what each layer includes of the others.

usage: tools/draw_rooms.py            writes docs/pictures/rooms.svg
       tools/draw_rooms.py --check    writes nothing; exit 1 where the picture is not that of the sources

A layer is a row, those it stands on are below it. A room is a folder of a layer, as wide as it has lines, and at least as wide as its
name. The dots at the right are the layers that a row's files include. --check compares rooms and dots, not the number of lines.
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from check_layers import ALLOWED  # noqa: E402: the layers, lowest first

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs/pictures/rooms.svg"
FOLDERS = {"bench": ["bench"], "cli": ["apps/cli"]}  # others: src/LAYER and include/addnorm/LAYER
INCLUDE = re.compile(r'#include "(?:addnorm/)?([a-z]+)/')
ROW, BAR, LEFT, WIDTH, TOP, DOTS = 46, 24, 92, 760, 34, 13
INK, FAINT, PAPER = "#1f2328", "#6b6f76", "#ffffff"
COLOURS = ["#4e79a7", "#59a14f", "#9c755f", "#b07aa1", "#e15759", "#f28e2b", "#76b7b2", "#8a7f00", "#3b6ea8", "#d37295", "#499894",
           "#b6992d", "#79706e", "#2f4b7c", "#86bcb6"]


class Layer:
    def __init__(self, name):
        self.name, self.rooms, self.uses = name, {}, set()
        for folder in FOLDERS.get(name, [f"src/{name}", f"include/addnorm/{name}"]):
            self.read(ROOT / folder)

    def read(self, folder):
        for path in sorted(folder.rglob("*")):
            if path.suffix not in (".h", ".cpp"):
                continue
            parts = path.relative_to(folder).parts
            room = "" if len(parts) == 1 else parts[0]
            text = path.read_text()
            files, lines = self.rooms.get(room, (0, 0))
            self.rooms[room] = files + 1, lines + text.count("\n")
            self.uses |= set(INCLUDE.findall(text)) & set(ALLOWED) - {self.name}

    def lines(self):
        return sum(lines for _, lines in self.rooms.values())


def text(x, y, words, size=12, anchor="start", ink=INK, more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{ink}"{more}>{words}</text>'


def bars(layer, y, scale, colour):
    x = LEFT
    for room, (files, lines) in sorted(layer.rooms.items()):
        wide = max(lines * scale, 6.6 * len(room) + 8)
        kind = "" if room else ' fill-opacity="0.45"'
        title = f"{layer.name}/{room}: {files} files, {lines} lines"
        yield f'<rect x="{x:.1f}" y="{y}" width="{max(wide - 1.5, 1):.1f}" height="{BAR}" fill="{colour}"{kind}><title>{title}</title></rect>'
        if room:
            yield text(x + wide / 2, y + BAR - 8, room, 11, "middle", PAPER)
        x += wide
    yield text(x + 6, y + BAR - 8, f"{sum(n for n, _ in layer.rooms.values())} files, {layer.lines()} lines", 10, ink=FAINT)


def draw(layers):
    names = [layer.name for layer in layers]
    colours = dict(zip(names, COLOURS))
    scale = WIDTH / max(layer.lines() for layer in layers)
    right = LEFT + WIDTH + 130
    out = [text(LEFT, 16, "rooms of each layer, as wide as they have lines", 11, ink=FAINT), text(right, 16, "includes", 11, ink=FAINT)]
    for i, layer in enumerate(reversed(layers)):
        y = TOP + i * ROW
        out.append(text(LEFT - 10, y + BAR - 7, layer.name, 13, "end", more=' font-weight="600"'))
        out += bars(layer, y, scale, colours[layer.name])
        for used in layer.uses:
            at = right + DOTS * names.index(used)
            out.append(f'<circle cx="{at}" cy="{y + BAR / 2}" r="4.5" fill="{colours[used]}"><title>{layer.name} includes {used}</title></circle>')
    height = TOP + ROW * len(layers)
    for name in names:
        x = right + DOTS * names.index(name)
        out.append(text(x + 3, height + 4, name, 10, "end", colours[name], f' transform="rotate(-60 {x + 3} {height + 4})"'))
    width, height = right + DOTS * len(names) + 10, height + 52
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" font-family="system-ui, sans-serif">'
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="{PAPER}"/>', *out, "</svg>"]) + "\n"


def facts(picture):
    """Rooms and includes, without numbers."""
    return sorted(re.sub(r":.*", "", title) for title in re.findall(r"<title>(.*?)</title>", picture))


def main():
    picture = draw([Layer(name) for name in ALLOWED])
    if "--check" in sys.argv[1:]:
        if not PICTURE.exists() or facts(PICTURE.read_text()) != facts(picture):
            sys.exit("docs/pictures/rooms.svg is not that of the sources; make it anew: tools/draw_rooms.py")
        return
    PICTURE.write_text(picture)
    print(f"wrote {PICTURE.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
