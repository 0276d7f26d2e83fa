#!/usr/bin/env python3
"""Fails on an #include that the architecture does not allow, on a type that is defined twice, and on a message of the library
that names an option of the tool: tools/check_layers.py [ROOT]

Each layer names the layers it may use; whatever is not named is refused. Third-party headers have their places too, and
public headers (include/addnorm) know only the standard library and us. Tests and examples are free. addnorm/addnorm.h includes
every public header.

A name of a type at namespace scope (struct, class, union, enum) means one thing in include and src, whatever its namespace: two
definitions in one namespace are undefined behaviour that no compiler reports, and two in different ones confuse readers.

Texts in include and src name fields ("lr is -1"), by called(words, "lr") or with_fields_called(): the tool's words make options of
them ("--lr is -1"). Whole commands ("'addnorm arrangements --inits' lists them") are the same for everybody.
"""
import pathlib
import re
import sys

# A layer may use itself and these, which all stand on lines above its own.
ALLOWED = {
    "core": [],
    "kernels": ["core"],
    "tensor": ["core", "kernels"],
    "data": ["core", "kernels", "tensor"],
    "autograd": ["core", "kernels", "tensor"],
    "nn": ["core", "kernels", "tensor", "autograd"],
    "residual": ["core", "kernels", "tensor", "autograd", "nn"],
    "model": ["core", "kernels", "tensor", "autograd", "nn", "residual"],
    "train": ["core", "kernels", "tensor", "data", "autograd", "nn", "residual", "model"],
    "probe": ["core", "kernels", "tensor", "data", "autograd", "nn", "residual", "model", "train"],
    "lab": ["core", "kernels", "tensor", "data", "autograd", "nn", "residual", "model", "train", "probe"],
    "claims": ["core", "kernels", "tensor", "data", "autograd", "nn", "residual", "model", "train", "probe", "lab"],
    "report": ["core"],
    # Not layers of the library, but users of it: the measuring code and the tool.
    "bench": ["core", "kernels", "tensor", "data", "autograd", "nn", "residual", "model", "train"],
    "cli": ["core", "kernels", "tensor", "data", "autograd", "nn", "residual", "model", "train", "probe", "lab", "claims",
            "report", "bench"],
}

# Third-party headers by prefix, and the folders that may include them.
THIRD_PARTY = {
    "dnnl": ["src/kernels/gemm/multiply_onednn.cpp", "bench"],
    "oneapi/": ["src/kernels/gemm/multiply_onednn.cpp", "bench"],
    "hwy/": ["src/kernels", "bench"],
    "sanitizer/": ["src/tensor"],
    "omp.h": ["src/core/system/team_openmp.cpp", "src/kernels/gemm/multiply_onednn.cpp", "bench"],
    "CLI/": ["apps/cli/terminal/command.cpp"],
    "Eigen/": ["src/tensor/linear_algebra.cpp"],
    "unicode/": ["src/data/tokenizer/steps/unicode_icu.cpp"],
    "fmt/": ["src/core/figures.cpp"],
    "oniguruma.h": ["src/data/tokenizer/steps/regex_oniguruma.cpp"],
    "benchmark/": ["bench"],
}

# What a system offers beyond the C++ standard library; never in public headers, and in src only where CMake chooses a source for the
# platform (docs/porting.md), and where denormals are switched off.
SYSTEM_PLACES = ["src/core/system", "src/core/denormals.cpp", "src/data/tokenizer/steps/regex_oniguruma.cpp",
                 "src/tensor/arena/system_linux.cpp"]
SYSTEM = re.compile(r"^(sys/|linux/)?[a-z_]+\.h$|^(x86|imm)intrin\.h$")
STANDARD = re.compile(r"^[a-z_0-9]+$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

# What is not code: comments, texts, characters and preprocessor lines. (A ' inside of a number is neither.)
NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|'
                   r'^[ \t]*#(?:\\\n|[^\n])*', re.DOTALL | re.MULTILINE)
NAMESPACE = re.compile(r"(?:^|[\s)])namespace\b[\w:\s]*$|(?:^|\s)extern\s*$")
# The words before a brace that opens a type, not those of a nested one such as `struct Model::Impl` or a specialisation.
TYPE = re.compile(r"(?:^|[\s>)])(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+(?:\[\[[^\]]*\]\]\s*|alignas\s*\([^)]*\)\s*)*"
                  r"([A-Za-z_]\w*)\s*(?:final\s*)?(?::[^:].*)?$", re.DOTALL)

# Texts of C++, which stand in the first group; comments and characters are passed over.
TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|(R"([^(\s]*)\(.*?\)\2"|"(?:\\.|[^"\\\n])*")|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
COMMAND = re.compile(r"addnorm( [a-z]+)+( --[a-z][a-z-]*)+")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
OPTIONS_OF = {
    "src/claims/claim.cpp": "the command that repeats a claim, put together",
    "src/model/import/weights/llama2c.cpp": "export.py of llama2.c",
    "src/report/sources.cpp": "what the commands of the tool print is what a report reads",
    "src/residual/catalogue/catalogue.cpp": "fairseq",
}

# Where our sources are, and what the path says about their layer.
PLACES = [("include/addnorm", None), ("src", None), ("bench", "bench"), ("apps/cli", "cli")]


def layer_of(path, place, fixed):
    """The layer of a file below `place`; None for the umbrella header."""
    if fixed:
        return fixed
    parts = path.relative_to(place).parts
    return parts[0] if len(parts) > 1 else None


def inside(relative, folder):
    return relative == folder or relative.startswith(folder + "/")


def judge_ours(layer, target_layer, header):
    if target_layer == layer or target_layer in ALLOWED[layer]:
        return None
    may = ", ".join([layer] + ALLOWED[layer])
    return f"layer {layer} must not include {header} (layer {target_layer}); it may use: {may}"


def judge_foreign(relative, header):
    public = inside(relative, "include")
    for prefix, folders in THIRD_PARTY.items():
        if header.startswith(prefix):
            if any(inside(relative, folder) for folder in folders):
                return None
            return f"{header} belongs only in {', '.join(folders)}"
    if STANDARD.match(header):
        return None
    if SYSTEM.match(header):
        if inside(relative, "src") and not any(inside(relative, place) for place in SYSTEM_PLACES):
            return f"{header} is of the system, and belongs only in {', '.join(SYSTEM_PLACES)}"
        return f"a public header must not include {header}" if public else None
    return f"{header} is of no library that tools/check_layers.py knows"


def judge(root, path, relative, layer, header):
    """The complaint about one include, or None."""
    if header == "addnorm/addnorm.h":
        return "addnorm/addnorm.h is for users; our own sources name what they need"
    if ".." in header.split("/"):
        return f"{header}: include by the path from the include root"
    if header.startswith("addnorm/"):
        if not (root / "include" / header).is_file():
            return f"{header} does not exist"
        return judge_ours(layer, header.split("/")[1], header)
    for user in ("bench", "cli"):
        if header.startswith(user + "/"):
            return judge_ours(layer, user, header)
    if (root / "src" / header).is_file():
        if inside(relative, "include"):
            return f"a public header must not include {header}, which is not installed"
        return judge_ours(layer, header.split("/")[0], header)
    if "/" not in header and (path.parent / header).is_file():
        return None
    return judge_foreign(relative, header)


def types_defined(text):
    """Name and line of each type that is defined at namespace scope."""
    text = NOISE.sub(lambda noise: re.sub(r"[^\n]", " ", noise.group(0)), text)
    scopes, words = [], ""  # for each open brace: is it a namespace's?
    for token in re.finditer(r"[{};]|[^{};]+", text):
        if token.group(0) == "{":
            is_namespace = NAMESPACE.search(words.rstrip()) is not None
            found = TYPE.search(words.strip()) if all(scopes) and not is_namespace else None
            if found:
                yield found.group(1), text.count("\n", 0, token.start()) + 1
            scopes.append(is_namespace)
            words = ""
        elif token.group(0) in "};":
            if token.group(0) == "}" and scopes:
                scopes.pop()
            words = ""
        else:
            words += token.group(0)


def defined_twice(root):
    """Complaints about the second and later definitions of a type in include and src."""
    complaints, first = [], {}
    for place in ("include", "src"):
        for path in sorted((root / place).rglob("*")):
            if path.suffix not in (".h", ".cpp"):
                continue
            for name, line in types_defined(path.read_text(encoding="utf-8")):
                here = f"{path.relative_to(root).as_posix()}:{line}"
                if name in first:
                    complaints.append(f"{here}: type {name} is defined a second time, first at {first[name]}; rename one of them")
                first.setdefault(name, here)
    return complaints


def options_in_texts(text):
    """Option and line of each text that says an option without its command."""
    for match in TEXT.finditer(text):
        if match.group(1):
            for option in OPTION.findall(COMMAND.sub("", match.group(1))):
                yield option, text.count("\n", 0, match.start()) + 1


def options_in_messages(root):
    """Complaints about texts of the library that name an option of the tool."""
    complaints = []
    for place in ("include", "src"):
        for path in sorted((root / place).rglob("*")):
            relative = path.relative_to(root).as_posix()
            if path.suffix not in (".h", ".cpp") or relative in OPTIONS_OF:
                continue
            for option, line in options_in_texts(path.read_text(encoding="utf-8")):
                complaints.append(f"{relative}:{line}: a text names {option}; the library names fields: called(words, \"...\")")
    return complaints


def missing_from_umbrella(root):
    """A complaint for each public header that addnorm/addnorm.h, where there is one, does not include."""
    include = root / "include"
    umbrella = include / "addnorm/addnorm.h"
    if not umbrella.is_file():
        return []
    text = umbrella.read_text(encoding="utf-8")
    included = {match.group(2) for match in map(INCLUDE.match, text.splitlines()) if match}
    public = sorted(path.relative_to(include).as_posix() for path in include.rglob("*.h") if path != umbrella)
    return [f"include/{header}:1: addnorm/addnorm.h does not include it; everything public belongs there"
            for header in public if header not in included]


def check(root):
    """All complaints as "path:line: text", and the number of files read."""
    complaints, files = defined_twice(root), 0
    for place, fixed in PLACES:
        folder = root / place
        for path in sorted(folder.rglob("*")):
            if path.suffix not in (".h", ".cpp"):
                continue
            files += 1
            relative = path.relative_to(root).as_posix()
            layer = layer_of(path, folder, fixed)
            if layer is None and relative == "include/addnorm/addnorm.h":
                continue
            if layer not in ALLOWED:
                complaints.append(f"{relative}:1: no layer is called {layer}; known: {', '.join(ALLOWED)}")
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                match = INCLUDE.match(line)
                complaint = match and judge(root, path, relative, layer, match.group(2))
                if complaint:
                    complaints.append(f"{relative}:{number}: {complaint}")
    return complaints + options_in_messages(root) + missing_from_umbrella(root), files


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent).resolve()
    complaints, files = check(root)
    for complaint in complaints:
        print(complaint)
    if files == 0:
        print(f"no sources below {root}")
    print(f"check_layers: {files} files, {len(complaints)} forbidden or missing includes, types defined twice, or "
          "messages that name options")
    return 1 if complaints or files == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
