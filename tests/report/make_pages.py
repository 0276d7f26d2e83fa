#!/usr/bin/env python3
"""Pages for the browser tests: tests/report/make_pages.py TOOL FOLDER

- FOLDER/real.html     a small lab, a training run with all probes, its x-ray, a preflight and claims: real ones, made here by TOOL
- FOLDER/hostile.html  the same records under names that would like to be HTML or script, to be long, or to be special to JavaScript
- FOLDER/many.html     a lab of 1,000 runs of 10,000 steps, made up

Takes about a minute on a machine that has nothing else to do; prints the three paths.
"""
import json
import math
import os
import pathlib
import random
import shutil
import subprocess
import sys

SMALL = ["--d-model", "32", "--heads", "2", "--seq-len", "32", "--batch-size", "4"]
HOSTILE = ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "\"><svg onload=alert(1)>", "'-alert(1)-'",
           "javascript:alert(1)", "<!--", "__proto__", "constructor", "toString", "a\u2028b\u2029c\u202e\u0000d", "&lt;b&gt;",
           "{{7*7}}${7*7}", "long " * 100, "W" * 300, " ", "@@SCRIPT@@", "%s%n", "#/../?x=<b>"]


def run(tool, arguments, **options):
    return subprocess.run([tool, *arguments], check=True, stdout=subprocess.PIPE, text=True, timeout=600, **options).stdout


def real_records(tool, folder):
    """The sources of the page of real records."""
    # 120 steps are enough for verdicts of each kind: pre-ln trains, 4 layers of the others are slow, 12 layers of them fail, with causes;
    # copies with warm-up are too short to tell.
    run(tool, ["lab", "--arrangements", "post-ln,pre-ln,norm-skip", "--layers", "4,12", "--lr", "1e-3", "--steps", "120", "--seeds", "2",
               "--with-warmup", "60", "--out", str(folder / "lab"), *SMALL], stderr=subprocess.DEVNULL)
    run(tool, ["train", "--steps", "60", "--layers", "4", "--probes", "full", "--probe-every", "20", "--quiet", "--out",
               str(folder / "book"), *SMALL])
    flight = run(tool, ["preflight", "--arrangement", "post-ln", "--layers", "12", "--lr", "5e-3", "--warmup-steps", "0", "--seeds", "1",
                        "--json", *SMALL])
    (folder / "preflight.json").write_text(flight, encoding="utf-8")
    (folder / "xray.json").write_text(run(tool, ["xray", str(folder / "book"), "--json", "--quiet"]), encoding="utf-8")
    claims = pathlib.Path(__file__).resolve().parents[2] / "docs" / "claims"
    return [folder / "lab", folder / "book", folder / "preflight.json", folder / "xray.json", claims]


class Names:
    """One hostile name after the other."""
    def __init__(self):
        self.count = 0

    def next(self):
        self.count += 1
        return HOSTILE[self.count % len(HOSTILE)]


def with_hostile_texts(value, names, keep):
    """Every text of a record replaced, but for fields that decide what is drawn (a state, a verdict)."""
    if isinstance(value, dict):
        return {key: item if key in keep else with_hostile_texts(item, names, keep) for key, item in value.items()}
    if isinstance(value, list):
        return [with_hostile_texts(item, names, keep) for item in value]
    return names.next() if isinstance(value, str) else value


def hostile_claim(name, text):
    values = [{"name": text, "mean": 1.5, "spread": None, "seeds": 3}]
    return {"id": name, "claim": text, "source": text, "measured": text, "expected": text, "verdict": text, "kind": "S", "start": text,
            "earlier": {"verdict": text, "why": text}, "see": [{"id": text, "why": text}], "values": values,
            "inits": [{"init": text, "verdict": text, "measured": text, "values": values}]}


def hostile_records(real, folder):
    keep = {"state", "outcome", "outcomes", "happened", "forecast", "folder", "classes", "units", "stack", "curve", "id", "begun"}
    names = Names()
    lab = json.loads((real / "lab" / "lab.json").read_text(encoding="utf-8"))
    lab = with_hostile_texts(lab, names, keep)
    place = folder / "labs" / HOSTILE[0]
    shutil.copytree(real / "lab", place)
    (place / "lab.json").write_text(json.dumps(lab), encoding="utf-8")
    book = folder / "runs" / HOSTILE[2]
    shutil.copytree(real / "book", book)
    record = json.loads((book / "run.json").read_text(encoding="utf-8"))
    record["options"] = with_hostile_texts(record["options"], names, keep)
    (book / "run.json").write_text(json.dumps(record), encoding="utf-8")
    flight = with_hostile_texts(json.loads((real / "preflight.json").read_text(encoding="utf-8")), names, keep | {"verdict"})
    (folder / f"{HOSTILE[3]}.json").write_text(json.dumps(flight), encoding="utf-8")
    looked = with_hostile_texts(json.loads((real / "xray.json").read_text(encoding="utf-8")), names, keep | {"measure", "name"})
    looked["model"]["name"] = HOSTILE[1]
    (folder / f"{HOSTILE[4]}.json").write_text(json.dumps(looked), encoding="utf-8")
    claims = [hostile_claim(f"S{i:02}", text) for i, text in enumerate(HOSTILE) if text.strip()]
    (folder / "claims.json").write_text(json.dumps(claims), encoding="utf-8")
    return [place, book, folder / f"{HOSTILE[3]}.json", folder / f"{HOSTILE[4]}.json", folder / "claims.json"]


def metrics_lines(rng, steps, level):
    lines = []
    for step in range(1, steps + 1):
        loss = level + 2 * math.exp(-step / 1500) + rng.gauss(0, 0.05)
        lines.append(f'{{"step":{step},"loss":{loss:.6f},"learning_rate":0.001,"gradient_norm":{abs(rng.gauss(1, 0.2)):.5f}}}\n')
    return "".join(lines)


def probe_lines(rng, layers):
    units = [f"layers.{i}.{part}" for i in range(layers) for part in ("self", "ffn")]
    lines = []
    for step in (1, 2, 4, 8, 16, *range(500, 10_001, 500)):
        by_place = {name: [rng.random() + 0.01 for _ in range(len(units) + 1)] for name in ("stream_rms", "spread", "gradient_norm")}
        by_unit = {name: [rng.random() for _ in units] for name in ("update_ratio", "gradient_skip", "gradient_branch")}
        lines.append(json.dumps({"step": step, "stacks": [{"name": "stack", "units": units, **by_place, **by_unit}]}) + "\n")
    return "".join(lines)


def many_records(folder, runs=1000, steps=10_000, kinds=20):
    """Metrics of a few kinds of runs, linked into the folders of all: what is read is as much as if all were different."""
    rng = random.Random(1)
    lab = folder / "many"
    (lab / "kinds").mkdir(parents=True)
    for kind in range(kinds):
        (lab / "kinds" / f"{kind}.metrics").write_text(metrics_lines(rng, steps, 2 + kind / kinds), encoding="utf-8")
        (lab / "kinds" / f"{kind}.probes").write_text(probe_lines(rng, 12), encoding="utf-8")
    record = {"format": 1, "version": "0", "finished": True, "failed": 0, "acts": [{"name": "", "note": ""}], "rows": [], "runs": []}
    names = ["post-ln", "pre-ln", "norm-skip", "deepnorm", "rezero", "plain"]
    for number in range(runs):
        row, seed = divmod(number, 3)
        if seed == 0:
            name, layers, lr = names[row % 6], (6, 12, 24, 48)[row // 6 % 4], 1e-4 * 2 ** (row // 24)
            record["rows"].append({
                "label": f"{name} {layers} layers lr {lr:g}", "label_in_act": f"{name} {layers} {lr:g}", "act": 0, "arrangement": name,
                "options": {"arrangement": name, "layers": layers, "lr": lr, "warmup_steps": 0, "steps": steps}, "seeds": 3, "runs": [],
                "baselines": {"floor": 1.5, "uniform": 4, "unigram": 3.3, "bigram": 2.3}, "trained_line": 2.55, "done": 3, "trained": 2,
                "prediction": {"forecast": "trains", "confidence": 0.9, "reason": "made up"}, "happened": "trains", "agreed": True,
                "loss": {"mean": 2 + row / 400, "deviation": 0.1, "least": 1.9 + row / 400, "most": 2.1 + row / 400, "count": 3}})
        record["rows"][-1]["runs"].append(number)
        place = lab / f"run-{number}"
        place.mkdir()
        for part in ("metrics", "probes"):
            os.link(lab / "kinds" / f"{number % kinds}.{part}", place / f"{part}.jsonl")
        record["runs"].append({"seed": seed + 1, "folder": place.name, "state": "done", "steps": steps, "steps_done": steps,
                               "outcome": "trained", "loss": 2 + rng.random(), "best": 2})
    (lab / "lab.json").write_text(json.dumps(record), encoding="utf-8")
    return [lab]


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    tool, folder = str(pathlib.Path(arguments[0]).resolve()), pathlib.Path(arguments[1]).resolve()
    real, hostile = folder / "real", folder / "hostile"
    for place in (real, hostile):
        place.mkdir(parents=True)
    made = {"real": real_records(tool, real)}
    made["hostile"] = hostile_records(real, hostile)
    made["many"] = many_records(folder)
    for name, sources in made.items():
        page = folder / f"{name}.html"
        run(tool, ["report", *map(str, sources), "-o", str(page)])
        print(page, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
