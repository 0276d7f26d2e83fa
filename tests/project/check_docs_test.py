"""tools/check_docs.py and tools/make_docs.py on made-up pages and a made-up tool: what they must find, and what they must let pass."""
import importlib.util
import pathlib
import tempfile
import unittest

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"


def loaded(name):
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check_docs, make_docs = loaded("check_docs"), loaded("make_docs")

HELP = {
    (): "the tool\n\nCommands:\n  lab                 runs\n                      and more\n  train               trains\n",
    ("lab",): "runs\n\nOptions:\n  -h,--help           print\n  --out PATH          where\n  --layers N,...\n"
              "                      how many\n\nCommands:\n  claims              measured\n",
    ("lab", "claims"): "measured\n\nOptions:\n  --only IDS          these\n",
    ("train",): "trains\n\nOptions:\n  --arrangement NAME  which\n",
}


class MadeUpTool(check_docs.Tool):
    def help(self, words):
        return HELP.get(tuple(words), "")


def complaints(text, others=()):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, content in dict(others, **{"README.md": text}).items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(content, encoding="utf-8")
        return list(check_docs.complaints_of(root, root / "README.md", MadeUpTool("addnorm")))


class Links(unittest.TestCase):
    def test_a_link_to_a_file_that_is_not_there_is_found_with_its_line(self):
        self.assertEqual(complaints("# A\n\n[here](docs/no.md)\n"), ["README.md:3: there is no docs/no.md"])

    def test_a_link_to_a_heading_that_is_not_there_is_found(self):
        page = {"docs/a.md": "# Two words, `code`\n"}
        self.assertEqual(complaints("[x](docs/a.md#two-words-code) [y](docs/a.md#three)", page),
                         ["README.md:1: docs/a.md#three: no such heading"])

    def test_what_is_in_code_or_elsewhere_is_no_link_of_ours(self):
        self.assertEqual(complaints("`[a](b)` [c](https://example.org/d)\n\n```cpp\n[=](int)\n```\n"), [])


class Commands(unittest.TestCase):
    def test_commands_and_options_that_exist_pass(self):
        text = "Do\n\n    ./addnorm lab --out x --layers 6,24   # --no-such: a comment\n    ./addnorm lab claims --only S1 | head -n 3\n"
        self.assertEqual(complaints(text), [])

    def test_an_unknown_command_is_found(self):
        self.assertEqual(complaints("\n    ./addnorm trian --arrangement x\n"), ["README.md:2: addnorm has no command 'trian'"])

    def test_an_unknown_option_is_found_in_code_and_in_sentences(self):
        self.assertEqual(complaints("Try `addnorm lab --oot x`.\n\n```\naddnorm lab claims --out y\n```\n"),
                         ["README.md:1: addnorm lab has no option --oot", "README.md:4: addnorm lab claims has no option --out"])

    def test_a_command_goes_on_behind_a_backslash(self):
        self.assertEqual(complaints("\n    ./addnorm lab --out x \\\n        --oot\n"), ["README.md:3: addnorm lab has no option --oot"])

    def test_what_stands_behind_dots_or_a_pipe_is_looked_at_too(self):
        self.assertEqual(complaints("Or `addnorm lab [--layers ... --oot ...]`.\n\n    cat x | ./addnorm lab --in -\n"),
                         ["README.md:1: addnorm lab has no option --oot", "README.md:3: addnorm lab has no option --in"])

    def test_an_option_that_no_command_and_no_script_has_is_found_in_a_sentence(self):
        scripts = {"scripts/test": "case $1 in --full) ;; esac"}
        self.assertEqual(complaints("`--out x`, `--only`, `--full`, `--arrangements` and `--oot PATH`\n", scripts),
                         ["README.md:1: no command has an option --oot"])

    def test_a_script_that_is_not_there_is_found(self):
        self.assertEqual(complaints("\n    ./scripts/tset --full\n"), ["README.md:2: there is no scripts/tset"])

    def test_other_languages_are_left_alone(self):
        self.assertEqual(complaints("```cpp\naddnorm lab --nothing\n```\n"), [])


class Pages(unittest.TestCase):
    def test_commands_are_those_of_the_list_in_help(self):
        self.assertEqual(make_docs.command_names(HELP[()]), ["lab", "train"])
        self.assertEqual(make_docs.command_names(HELP[("train",)]), [])

    def test_a_table_replaces_what_is_between_its_marks_and_nothing_else(self):
        before = f"a\n{make_docs.BEGIN}\nold\n{make_docs.END}\nb\n"
        self.assertEqual(make_docs.with_table(before, "new"), f"a\n{make_docs.BEGIN}\nnew\n{make_docs.END}\nb\n")
        with self.assertRaises(SystemExit):
            make_docs.with_table("no marks", "new")


if __name__ == "__main__":
    unittest.main()
