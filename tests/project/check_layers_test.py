"""tools/check_layers.py on made-up trees: what it must refuse, and what it must let pass."""
import importlib.util
import pathlib
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check_layers.py"
spec = importlib.util.spec_from_file_location("check_layers", TOOL)
check_layers = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_layers)


def complaints(files):
    """What the check says about a tree with these files (path -> text)."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return check_layers.check(root)[0]


TENSOR = {"include/addnorm/tensor/tensor.h": "#include <vector>\n"}


class Layers(unittest.TestCase):
    def test_an_upward_include_is_refused_with_file_line_and_both_layers(self):
        said = complaints({**TENSOR, "src/kernels/norm.cpp": '#include <cmath>\n#include "addnorm/tensor/tensor.h"\n'})
        self.assertEqual(len(said), 1)
        self.assertTrue(said[0].startswith("src/kernels/norm.cpp:2:"), said)
        self.assertIn("layer kernels must not include", said[0])
        self.assertIn("(layer tensor)", said[0])

    def test_a_private_header_of_a_later_layer_is_refused(self):
        said = complaints({"src/autograd/graph.h": "", "src/tensor/tensor.cpp": '#include "autograd/graph.h"\n'})
        self.assertEqual(len(said), 1)

    def test_downward_includes_pass(self):
        self.assertEqual(complaints({**TENSOR, "src/kernels/norm.h": "", "src/autograd/norm.cpp":
                                     '#include "addnorm/tensor/tensor.h"\n#include "kernels/norm.h"\n#include <cmath>\n'}), [])

    def test_train_must_not_know_probe_and_report_must_not_know_models(self):
        said = complaints({"include/addnorm/probe/probe.h": "", "include/addnorm/model/config.h": "",
                           "src/train/trainer/trainer.cpp": '#include "addnorm/probe/probe.h"\n',
                           "src/report/page.cpp": '#include "addnorm/model/config.h"\n'})
        self.assertEqual(len(said), 2)

    def test_a_folder_that_is_no_layer_is_refused(self):
        self.assertEqual(len(complaints({"src/utils/strings.cpp": ""})), 1)


class ThirdParty(unittest.TestCase):
    def test_onednn_is_for_gemm_and_bench_only(self):
        self.assertEqual(len(complaints({"src/kernels/norm.cpp": "#include <dnnl.h>\n"})), 1)
        self.assertEqual(len(complaints({"src/tensor/tensor.cpp": "#include <oneapi/dnnl/dnnl.hpp>\n"})), 1)
        self.assertEqual(complaints({"src/kernels/gemm/multiply_onednn.cpp": "#include <dnnl.h>\n", "bench/peers/peer.cpp": "#include <dnnl.hpp>\n"}), [])

    def test_icu_is_for_one_file_only(self):
        self.assertEqual(len(complaints({"src/data/text.cpp": "#include <unicode/uchar.h>\n"})), 1)
        self.assertEqual(complaints({"src/data/tokenizer/steps/unicode_icu.cpp": "#include <unicode/uchar.h>\n"}), [])

    def test_oniguruma_is_for_one_file_only(self):
        self.assertEqual(len(complaints({"src/data/tokenizer/read.cpp": "#include <oniguruma.h>\n"})), 1)
        self.assertEqual(complaints({"src/data/tokenizer/steps/regex_oniguruma.cpp": "#include <oniguruma.h>\n"}), [])

    def test_nlohmann_is_for_tests_only(self):
        for path in ("src/core/json/json.cpp", "apps/cli/models/eval.cpp", "src/tensor/safetensors/json.cpp", "src/data/tokenizer/json.h"):
            with self.subTest(path):
                self.assertEqual(len(complaints({path: "#include <nlohmann/json.hpp>\n"})), 1)

    def test_public_headers_include_nothing_foreign(self):
        for header in ("nlohmann/json.hpp", "hwy/highway.h", "CLI/CLI.hpp", "omp.h", "sys/mman.h", "unistd.h"):
            with self.subTest(header):
                self.assertEqual(len(complaints({"include/addnorm/core/shape.h": f"#include <{header}>\n"})), 1)

    def test_headers_of_the_system_are_for_the_files_of_a_platform(self):
        self.assertEqual(len(complaints({"src/train/run/lock.cpp": "#include <sys/file.h>\n"})), 1)
        self.assertEqual(len(complaints({"src/core/file.cpp": "#include <unistd.h>\n"})), 1)
        self.assertEqual(complaints({"src/core/system/files_posix.cpp": "#include <unistd.h>\n",
                                     "src/tensor/arena/system_linux.cpp": "#include <sys/mman.h>\n",
                                     "apps/cli/terminal/terminal.cpp": "#include <sys/ioctl.h>\n"}), [])

    def test_public_headers_include_no_private_ones(self):
        self.assertEqual(len(complaints({"src/core/hidden.h": "", "include/addnorm/core/shape.h": '#include "core/hidden.h"\n'})), 1)

    def test_cli11_is_for_one_file(self):
        self.assertEqual(len(complaints({"apps/cli/train/train.cpp": "#include <CLI/CLI.hpp>\n"})), 1)
        self.assertEqual(complaints({"apps/cli/terminal/command.cpp": "#include <CLI/CLI.hpp>\n"}), [])

    def test_eigen_is_for_one_file(self):
        self.assertEqual(len(complaints({"src/probe/measures/spectrum.cpp": "#include <Eigen/Eigenvalues>\n"})), 1)
        self.assertEqual(complaints({"src/tensor/linear_algebra.cpp": "#include <Eigen/Eigenvalues>\n"}), [])

    def test_fmt_is_for_one_file(self):
        self.assertEqual(len(complaints({"src/core/error.cpp": "#include <fmt/format.h>\n"})), 1)
        self.assertEqual(complaints({"src/core/figures.cpp": "#include <fmt/format.h>\n"}), [])

    def test_an_unknown_library_is_refused(self):
        self.assertEqual(len(complaints({"src/core/shape.cpp": "#include <boost/any.hpp>\n"})), 1)


class Types(unittest.TestCase):
    def test_a_second_definition_of_a_name_is_refused_with_both_places(self):
        said = complaints({"src/core/a.cpp": "namespace addnorm {\nnamespace {\nstruct Piece {\n  int x;\n};\n}\n}\n",
                           "src/core/b.cpp": "namespace addnorm {\nenum class Piece : unsigned char { one };\n}\n"})
        self.assertEqual(len(said), 1)
        self.assertTrue(said[0].startswith("src/core/b.cpp:2: type Piece"), said)
        self.assertIn("first at src/core/a.cpp:3", said[0])

    def test_another_namespace_or_layer_or_a_template_makes_no_difference(self):
        first = {"include/addnorm/core/piece.h": "namespace addnorm {\nclass Piece final : public Base<int> {};\n}\n"}
        for other in ("namespace addnorm::kernels {\nstruct Piece {};\n}\n",
                      "HWY_BEFORE_NAMESPACE();\nnamespace addnorm::kernels::HWY_NAMESPACE {\ntemplate <bool kFull>\nclass Piece {};\n}\n",
                      "namespace addnorm {\nstruct alignas(64) Piece {};\n}\n",
                      "extern \"C\" {\nunion Piece { int i; };\n}\n"):
            with self.subTest(other):
                self.assertEqual(len(complaints({**first, "src/kernels/norm.cpp": other})), 1)

    def test_forward_declarations_and_nested_types_pass(self):
        self.assertEqual(complaints({
            "include/addnorm/core/a.h": "namespace addnorm {\nstruct Piece;\nenum class Kind : int;\nclass A {\n  struct Impl;\n  struct Item { int x; };\n};\n}\n",
            "include/addnorm/core/b.h": "namespace addnorm {\nstruct Piece { Kind kind; };\nclass B {\n  struct Item { int x; };\n};\n}\n",
            "src/core/a.cpp": "namespace addnorm {\nstruct A::Impl { int x; };\nPiece f() { struct Local {}; return {}; }\n}\n",
            "src/core/b.cpp": "namespace addnorm {\nstruct B::Impl { int x; };\nint g(struct Piece& p) { struct Local {}; return 1'000; }\n}\n"}), [])

    def test_comments_texts_and_specialisations_define_nothing(self):
        self.assertEqual(complaints({
            "src/core/a.cpp": "namespace addnorm {\ntemplate <class T>\nstruct Piece {};\ntemplate <>\nstruct Piece<int> {};\n}\n",
            "src/core/b.cpp": '// struct Piece {\n/* struct Piece { */\nconst char* t = "struct Piece {";\n#define P struct Piece {\n'}), [])


class Messages(unittest.TestCase):
    def test_a_text_that_names_an_option_is_refused_with_the_option(self):
        said = complaints({"src/train/run.cpp": 'int x;\nauto t = concat("--lr is ", lr, "; see --max-lr");\n'})
        self.assertEqual([one.split(";")[0] for one in said],
                         ["src/train/run.cpp:2: a text names --lr", "src/train/run.cpp:2: a text names --max-lr"])

    def test_every_kind_of_text_is_read_and_public_headers_too(self):
        self.assertEqual(len(complaints({"src/lab/a.cpp": 'f("a"\n  "(--init)");\ng(R"x(more --steps)x");\n'})), 2)
        self.assertEqual(len(complaints({"include/addnorm/lab/a.h": 'inline const char* kHint = "fewer --layers";\n'})), 1)

    def test_whole_commands_comments_and_code_pass(self):
        self.assertEqual(complaints({"src/lab/a.cpp": '// --lr\n/* --lr */\nint f(int n) { return n --count; }\nconst char c = \'"\';\n'
                                     't("\'addnorm arrangements --inits\' lists them, addnorm lab claims --only --list too; a--b, -- ");\n'}), [])

    def test_options_of_other_programs_are_for_named_files(self):
        self.assertEqual(complaints({"src/model/import/weights/llama2c.cpp": 't("export it with --version 0");\n'}), [])


class Paths(unittest.TestCase):
    def test_the_umbrella_is_not_for_us(self):
        self.assertEqual(len(complaints({"include/addnorm/addnorm.h": "", "src/core/shape.cpp": '#include "addnorm/addnorm.h"\n'})), 1)

    def test_the_umbrella_includes_every_public_header(self):
        said = complaints({**TENSOR, "include/addnorm/core/shape.h": "",
                           "include/addnorm/addnorm.h": '#include "addnorm/tensor/tensor.h"\n'})
        self.assertEqual(said, ["include/addnorm/core/shape.h:1: addnorm/addnorm.h does not include it; everything public belongs there"])

    def test_dot_dot_is_refused(self):
        self.assertEqual(len(complaints({"src/core/shape.cpp": '#include "../tensor/tensor.h"\n'})), 1)

    def test_our_own_tree_passes(self):
        self.assertEqual(check_layers.check(TOOL.parents[1])[0], [])


if __name__ == "__main__":
    unittest.main()
