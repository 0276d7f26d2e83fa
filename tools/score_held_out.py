#!/usr/bin/env python3
"""Counts how often preflight was right in a lab, beside simpler rules: the tables of docs/preflight.md.

usage: tools/score_held_out.py RUNS        a folder of `addnorm lab --grid ... --out RUNS` that has ended
"""
import collections
import json
import math
import pathlib
import sys

CLASSES = ("trains", "needs warm-up", "will not train")
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


def print_confidence(rows):
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
    print_confidence(rows)
    seconds = sorted(row["seconds"] for row in rows)
    print(f"\nseconds of a prediction: median {seconds[len(seconds) // 2]:.1f}, most {seconds[-1]:.1f}")
    print("\nwrong:")
    for row in rows:
        if (row["happened"] == "trains") != (row["forecast"] == "trains"):
            print(f"- {row['label']}: {row['happened']}{' (slow)' if row['slow'] else ''}, loss {row['loss']} (line {row['line']:.2f}); {row['reason']}")


main()
