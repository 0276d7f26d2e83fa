#!/usr/bin/env python3
"""Fails on documentation that leads nowhere: tools/check_docs.py [--root ROOT] TOOL

- every link to a file, and to a heading of one, in README.md, CONTRIBUTING.md, CHANGELOG.md, docs and bench
- every command line of the tool in code (indented, fenced without a language or as sh, or `addnorm ...` in a sentence): the
  command exists, and so do its options; every ./scripts/... and tools/... in code exists
- every `--option` in a sentence: some command has it, or a script of ours

TOOL is the addnorm program, which is asked for --help.
"""
import functools
import pathlib
import re
import shlex
import subprocess
import sys

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^\s*(```+|~~~+)\s*(\S*)")
OPTION_SPAN = re.compile(r"`(--[a-z][\w-]*)[^`]*`")
COMMAND_LINE = re.compile(r"^\s*(\$ )?addnorm\b|(^|\s)\./addnorm\b")
SPAN = re.compile(r"`((?:\./)?addnorm [^`]+)`")
PROGRAM = re.compile(r"^(?:\./)?((?:scripts|tools|tests|examples)/[\w./-]+)$")
# What an option is called besides: understood, and not in --help.
ALIASES = {"--arrangements": "--arrangement", "--inits": "--init", "--data": "--data"}


def markdown_files(root):
    files = [root / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    for folder in ("docs", "bench", "examples", "web"):
        files += sorted(path for path in (root / folder).rglob("*.md") if "node_modules" not in path.parts)
    return [path for path in files if path.is_file()]


def blocks(text):
    """(line number, line, is code) of a file; code is indented or fenced without a language, or as sh."""
    fence, language, before_blank = None, "", True
    for number, line in enumerate(text.splitlines(), 1):
        match = FENCE.match(line)
        if match and (fence is None or (line.strip().startswith(fence) and not match.group(2))):
            fence, language = (match.group(1), match.group(2)) if fence is None else (None, "")
            continue
        indented = fence is None and line.startswith("    ") and (before_blank or was_code)
        was_code = indented or (fence is not None and language in ("", "sh", "bash", "console"))
        yield number, line, "code" if was_code else "text" if fence is None else "other"
        before_blank = not line.strip()


def heading_ids(text):
    """Anchors as GitHub makes them, and those written out as <a id="...">."""
    ids, seen = set(re.findall(r'<a id="([^"]+)"></a>', text)), {}
    for _, line, kind in blocks(text):
        match = re.match(r"^#{1,6}\s+(.*?)\s*#*$", line) if kind == "text" else None
        if not match:
            continue
        plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", match.group(1)).lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        count = seen.get(anchor, 0)
        seen[anchor] = count + 1
        ids.add(anchor if count == 0 else f"{anchor}-{count}")
    return ids


def broken_link(path, target):
    """The complaint about one link, or None. Addresses elsewhere are not asked for."""
    if re.match(r"^[a-z]+:", target):
        return None
    name, _, anchor = target.partition("#")
    file = (path.parent / name).resolve() if name else path
    if not file.exists():
        return f"there is no {target}"
    if anchor and file.suffix == ".md" and anchor not in heading_ids(file.read_text(encoding="utf-8")):
        return f"{target}: no such heading"
    return None


class Tool:
    def __init__(self, program):
        self.program = program

    @functools.lru_cache(maxsize=None)
    def help(self, words):
        done = subprocess.run([self.program, *words, "--help"], capture_output=True, text=True, timeout=60, check=False)
        return done.stdout if done.returncode == 0 else ""

    @functools.lru_cache(maxsize=None)
    def commands(self, words=()):
        part = re.search(r"^Commands:\n((?:  .*\n?)+)", self.help(words), re.M)
        return re.findall(r"^  ([a-z][a-z-]*)\b", part.group(1), re.M) if part else []

    @functools.lru_cache(maxsize=None)
    def options(self, words):
        lines = re.findall(r"^  (-[^\n]*)", self.help(words), re.M)
        return {option for line in lines for option in re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", line.split("   ")[0])}

    @functools.lru_cache(maxsize=None)
    def all_options(self):
        paths = [(), *((name,) for name in self.commands())]
        paths += [(*path, name) for path in paths[1:] for name in self.commands(path)]
        return set().union(*(self.options(path) for path in paths))

    def complaint(self, line):
        """About one command line, or None."""
        words = words_of(line)
        if not words:
            return None
        path, rest = [], words[1:]
        while rest and rest[0] in self.commands(tuple(path)):
            path.append(rest.pop(0))
        if not path:
            if not rest or rest[0].startswith("-") or not re.fullmatch(r"[a-z][a-z-]+", rest[0]):
                return None
            return f"addnorm has no command '{rest[0]}'"
        for word in rest:
            option = re.match(r"--?[a-zA-Z][\w-]*", word)
            if option and not ({option.group(), ALIASES.get(option.group(), "")} & self.options(tuple(path))):
                return f"addnorm {' '.join(path)} has no option {option.group()}"
        return None


def words_of(line):
    """Of the part of a line that calls the tool, up to a pipe, comment or another command; [] where there is none."""
    match = re.search(r"(?:^|[\s(|;&])((?:\./)?addnorm(?:\s|$).*)", line)
    if not match:
        return []
    text = re.split(r"\s#|\s[|;&>]|&&", match.group(1))[0]
    for sign in ("...", "[", "]"):
        text = text.replace(sign, " ")
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def missing_program(root, line):
    for word in line.split():
        match = PROGRAM.match(word.strip("`'\"();,"))
        if match and "..." not in word and not (root / match.group(1)).exists():
            return f"there is no {match.group(1)}"
    return None


@functools.lru_cache(maxsize=None)
def options_of_scripts(root):
    """Those that scripts of ours take or give to others (cmake, git), by the words in them."""
    files = [path for folder in ("scripts", "tools", "web/tests", "examples", ".ci") for path in (root / folder).glob("*") if path.is_file()]
    return set(re.findall(r"(?<![\w-])--[a-z][\w-]*", "".join(path.read_text(encoding="utf-8") for path in files)))


def unknown_option(root, option, tool):
    """The complaint about an option that a sentence speaks of, or None."""
    known = tool.all_options() | set(ALIASES) | options_of_scripts(root)
    return None if option in known else f"no command has an option {option}"


def complaints_of(root, path, tool):
    text, begun = path.read_text(encoding="utf-8"), ""
    for number, line, kind in blocks(text):
        found, line, begun = [], begun + line, ""
        if kind == "text":
            bare = re.sub(r"`[^`]*`", "", line)
            found += [broken_link(path, target) for target in LINK.findall(bare)]
            found += [tool.complaint(span) for span in SPAN.findall(line)]
            found += [unknown_option(root, option, tool) for option in OPTION_SPAN.findall(line)]
        elif kind == "code" and line.endswith("\\"):
            begun = line[:-1]
        elif kind == "code":
            found += [tool.complaint(line) if COMMAND_LINE.search(line) else None, missing_program(root, line)]
        for complaint in found:
            if complaint:
                yield f"{path.relative_to(root)}:{number}: {complaint}"


def main(arguments):
    root = pathlib.Path(__file__).resolve().parent.parent
    if arguments[:1] == ["--root"]:
        root, arguments = pathlib.Path(arguments[1]).resolve(), arguments[2:]
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    tool, files = Tool(arguments[0]), markdown_files(root)
    complaints = [complaint for path in files for complaint in complaints_of(root, path, tool)]
    for complaint in complaints:
        print(complaint)
    print(f"check_docs: {len(files)} files, {len(complaints)} complaints")
    return 1 if complaints or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
