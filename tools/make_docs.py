#!/usr/bin/env python3
"""Writes what the documentation takes from the tool itself: tools/make_docs.py [--check] TOOL

- docs/commands/NAME.md, a page per command, from its --help; docs/commands/README.md lists them
- the table of arrangements in README.md, between its two marks, from the rows of the catalogue

TOOL is the addnorm program. --check writes nothing, names what is not current, and then ends with 1.
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMANDS = pathlib.Path("docs/commands")
BEGIN, END = "<!-- arrangements: made by tools/make_docs.py -->", "<!-- end of arrangements -->"


def run(tool, *arguments):
    return subprocess.run([tool, *arguments], check=True, capture_output=True, text=True, timeout=60).stdout


def command_names(help_text):
    """Those listed under "Commands:"."""
    part = re.search(r"^Commands:\n((?:  .*\n?)+)", help_text, re.M)
    return re.findall(r"^  ([a-z][a-z-]*)\b", part.group(1), re.M) if part else []


def all_commands(tool, before=()):
    """(words, help) of every command, each followed by those inside it."""
    for name in command_names(run(tool, *before, "--help")):
        words = (*before, name)
        yield words, run(tool, *words, "--help")
        yield from all_commands(tool, words)


def page_name(words):
    return "-".join(words) + ".md"


def summary(help_text):
    return help_text.splitlines()[0].strip()


def command_page(words, help_text):
    rest = "\n".join(help_text.splitlines()[1:]).strip("\n")
    return (f"# addnorm {' '.join(words)}\n\n{summary(help_text)}\n\n```text\n{rest}\n```\n\n"
            "This is what `--help` prints; the page is made by `tools/make_docs.py`.\n")


def commands_index(commands):
    lines = ["# Commands", "", "| command | what it does |", "| --- | --- |"]
    lines += [f"| [{' '.join(words)}]({page_name(words)}) | {summary(text)} |" for words, text in commands]
    return "\n".join(lines) + "\n\nThese pages are what `--help` prints, made by `tools/make_docs.py`.\n"


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def arrangements_table(tool):
    lines = ["| name | formula | final norm | source |", "| --- | --- | --- | --- |"]
    for row in json.loads(run(tool, "arrangements", "--json")):
        final = "LN" if row["final_norm"] else "–"
        year = f" ({row['year']})" if row["year"] else ""
        lines.append(f"| `{cell(row['name'])}` | {cell(row['formula'])} | {final} | {cell(row['source'])}{year} |")
    return "\n".join(lines)


def with_table(readme, table):
    begin, end = readme.find(BEGIN), readme.find(END)
    if begin < 0 or end < begin:
        raise SystemExit(f"README.md: the marks of the table are missing: {BEGIN} and {END}")
    return readme[:begin] + f"{BEGIN}\n{table}\n" + readme[end:]


def pages(tool):
    """Every file that is made, and what it should hold."""
    commands = list(all_commands(tool))
    made = {COMMANDS / page_name(words): command_page(words, text) for words, text in commands}
    made[COMMANDS / "README.md"] = commands_index(commands)
    readme = pathlib.Path("README.md")
    made[readme] = with_table((ROOT / readme).read_text(encoding="utf-8"), arrangements_table(tool))
    return made


def main(arguments):
    check = "--check" in arguments
    tools = [argument for argument in arguments if argument != "--check"]
    if len(tools) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    made = pages(tools[0])
    stale = [name for name, text in made.items()
             if not (ROOT / name).is_file() or (ROOT / name).read_text(encoding="utf-8") != text]
    left = [name.relative_to(ROOT) for name in (ROOT / COMMANDS).glob("*.md") if name.relative_to(ROOT) not in made]
    if check:
        for name in stale + left:
            print(f"{name}: not what the tool says now; run tools/make_docs.py {tools[0]}")
        print(f"make_docs: {len(made)} files, {len(stale) + len(left)} not current")
        return 1 if stale or left else 0
    (ROOT / COMMANDS).mkdir(exist_ok=True)
    for name in stale:
        (ROOT / name).write_text(made[name], encoding="utf-8")
        print(f"wrote {name}")
    for name in left:
        (ROOT / name).unlink()
        print(f"removed {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
