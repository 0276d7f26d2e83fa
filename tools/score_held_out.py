#!/usr/bin/env python3
"""Counts how often preflight was right in a lab, beside simpler rules and by factor: the tables of docs/preflight.md.

usage: tools/score_held_out.py RUNS        a folder of `addnorm lab --grid ... --out RUNS` that has ended
"""
import collections
import json
import math
import pathlib
import sys

CLASSES = ("trains", "needs warm-up", "will not train")
PLACEMENTS = ("post-ln", "norm-skip", "pre-ln")
POST_NORMS = ("post-ln", "norm-skip", "xskip-ln", "ds-init", "plain-ln")
# The band of g at the first step that was best on the runs that set the rule.
LEAST_AT_START, MOST_AT_START = 0.5, 8


def share(part, whole):
    return part / whole if whole else math.nan


def balanced(pairs):
    """Mean of the shares of runs that trained, and of those that did not, for which `said` was right. Pairs of (did, said)."""
    did = [said for truth, said in pairs if truth]
    did_not = [said for truth, said in pairs if not truth]
    return (share(sum(did), len(did)) + share(len(did_not) - sum(did_not), len(did_not))) / 2


def gradient_ratio_at_start(folder):
    """g of the first step, in the last stack; not finite where the run has none."""
    with open(folder / "probes.jsonl") as lines:
        norms = json.loads(next(lines))["stacks"][-1]["gradient_norm"]
    if norms[0] is None or not norms[-1]:
        return math.inf
    return norms[0] / norms[-1]


def rows_of(lab, runs):
    for row in lab["rows"]:
        if row["prediction"] is None or row["happened"] not in CLASSES:
            continue
        yield {
            "label": row["label"],
            "options": row["options"],
            "happened": row["happened"],
            "forecast": row["prediction"]["forecast"],
            "clear": row["prediction"]["clear"],
            "reason": row["prediction"]["reason"],
            "seconds": row["prediction"]["seconds"],
            "slow": row["slow"],
            "loss": row["loss"]["mean"],
            "line": row["trained_line"],
            "g": gradient_ratio_at_start(runs / lab["runs"][row["runs"][0]]["folder"]),
        }


def print_confusion(rows):
    print("| happened \\ predicted | " + " | ".join(CLASSES) + " |")
    print("| --- | --- | --- | --- |")
    counts = collections.Counter((row["happened"], row["forecast"]) for row in rows)
    for truth in CLASSES:
        print(f"| {truth} | " + " | ".join(str(counts[truth, said]) for said in CLASSES) + " |")
    right = [share(counts[c, c], sum(counts[c, said] for said in CLASSES)) for c in CLASSES]
    print(f"\nbalanced accuracy over three classes: {sum(right) / 3:.3f}")


def print_rules(rows):
    def pairs(rule):
        return [(row["happened"] == "trains", rule(row)) for row in rows]

    def is_deep_post_norm(row):
        return row["options"]["arrangement"] in POST_NORMS and row["options"]["layers"] >= 12

    rules = {
        "preflight": lambda row: row["forecast"] == "trains",
        "always trains": lambda row: True,
        "a post-norm of 12 layers or more fails": lambda row: not is_deep_post_norm(row),
        f"g at the start between {LEAST_AT_START} and {MOST_AT_START}": lambda row: LEAST_AT_START < row["g"] < MOST_AT_START,
    }
    print("| rule | balanced accuracy | failures missed | false alarms |")
    print("| --- | --- | --- | --- |")
    for name, rule in rules.items():
        results = pairs(rule)
        failures = [said for truth, said in results if not truth]
        successes = [said for truth, said in results if truth]
        print(f"| {name} | {balanced(results):.3f} | {sum(failures)} of {len(failures)} | {len(successes) - sum(successes)} of {len(successes)} |")


def start_of(options):
    """How the weights began, in the words of tools/draw_held_out.py's INITS."""
    rule = options["init"] if options["init"] != "arrangement" else "of the arrangement"
    tokens = f", embeddings {options['embedding_std']:g}" if options.get("embedding_std") is not None else ""
    return rule + tokens + (", W_o and W_2 scaled" if options["branch_scale"] != 1 else "")


FACTORS = {
    "start": lambda row: start_of(row["options"]),
    "placement": lambda row: row["options"]["arrangement"] if row["options"]["arrangement"] in PLACEMENTS else "others",
    "data": lambda row: "characters" if row["options"]["data"] else "the built-in language",
    "head": lambda row: "tied" if row["options"]["tied"] else "of its own",
    "optimizer": lambda row: row["options"]["optimizer"],
}


def print_factor(rows, name, level_of):
    print(f"| {name} | runs | trained | preflight right | failures missed | false alarms |")
    print("| --- | --- | --- | --- | --- | --- |")
    levels = collections.defaultdict(list)
    for row in rows:
        levels[level_of(row)].append((row["happened"] == "trains", row["forecast"] == "trains"))
    for level, pairs in sorted(levels.items()):
        trained = sum(did for did, _ in pairs)
        missed, alarms = sum(said and not did for did, said in pairs), sum(did and not said for did, said in pairs)
        print(f"| {level} | {len(pairs)} | {trained} | {len(pairs) - missed - alarms} | {missed} of {len(pairs) - trained} | {alarms} of {trained} |")
    print()


def print_confidence(rows):
    for verdict in CLASSES:
        said = [row for row in rows if row["forecast"] == verdict]
        print(f"says '{verdict}': right in {sum(row['happened'] == verdict for row in said)} of {len(said)}")
    for trains in (True, False):
        for clear in (True, False):
            said = [row for row in rows if (row["forecast"] == "trains") == trains and row["clear"] == clear]
            right = sum((row["happened"] == "trains") == trains for row in said)
            print(f"says it {'trains' if trains else 'fails'}, {'clear' if clear else 'near a line'}: right in {right} of {len(said)}")


def main():
    runs = pathlib.Path(sys.argv[1])
    lab = json.loads((runs / "lab.json").read_text())
    rows = list(rows_of(lab, runs))
    print(f"{len(rows)} configurations, happened: {dict(collections.Counter(row['happened'] for row in rows))}\n")
    print_confusion(rows)
    print()
    print_rules(rows)
    print()
    for name, level_of in FACTORS.items():
        print_factor(rows, name, level_of)
    print_confidence(rows)
    seconds = sorted(row["seconds"] for row in rows)
    print(f"\nseconds of a prediction: median {seconds[len(seconds) // 2]:.1f}, most {seconds[-1]:.1f}")
    print("\nwrong:")
    for row in rows:
        if (row["happened"] == "trains") != (row["forecast"] == "trains"):
            print(f"- {row['label']}: {row['happened']}{' (slow)' if row['slow'] else ''}, loss {row['loss']} (line {row['line']:.2f}); {row['reason']}")


main()
