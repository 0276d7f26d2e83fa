// addnorm embed: one vector for each text, as sentence-transformers makes them.
#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <optional>
#include <sstream>
#include <utility>

#include "addnorm/train/embedder.h"
#include "cli/models/run_model.h"
#include "cli/terminal/command.h"
#include "cli/terminal/figures.h"
#include "cli/terminal/signals.h"
#include "core/figures.h"
#include "core/json/json.h"
#include "core/printable.h"

namespace addnorm::cli {
namespace {

struct EmbedChoices {
  std::string folder;
  std::vector<std::string> texts;
  std::string file;
  int threads = 0;
  bool similar = false, json = false;
};

/// So many texts are held at once: vectors come while a long file is read.
constexpr std::size_t kTextsAtOnce = 256;
/// A table of more columns would not fit on a screen.
constexpr std::size_t kMostSimilar = 100;

/// The fewest digits that give the same float.
std::string_view digits(float value, std::array<char, 32>& memory) {
  const auto end = std::to_chars(memory.data(), memory.data() + memory.size(), value).ptr;
  return {memory.data(), static_cast<std::size_t>(end - memory.data())};
}

/// Vectors as they come: a line of numbers each, or in one JSON object.
class VectorOutput {
 public:
  VectorOutput(const EmbedChoices& o, std::size_t width) : json_(o.json) {
    if (json_) std::cout << "{\"model\": " << Json(o.folder).dump() << ", \"width\": " << width << ", \"vectors\": [";
  }
  void add(std::span<const float> vector) {
    if (json_) std::cout << (first_ ? "\n[" : ",\n[");
    std::array<char, 32> memory{};
    for (std::size_t i = 0; i < vector.size(); ++i) {
      if (i > 0) std::cout << (json_ ? ", " : " ");
      std::cout << digits(vector[i], memory);
    }
    std::cout << (json_ ? "]" : "\n");
    first_ = false;
  }
  void finish(const Json* similarities) {
    if (!json_) return;
    std::cout << "]";
    if (similarities != nullptr) std::cout << ", \"similarities\": " << similarities->dump();
    std::cout << "}\n";
  }

 private:
  bool json_, first_ = true;
};

void print_similarities(const std::vector<std::string>& texts, const Tensor& cosines) {
  const std::size_t count = texts.size();
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j)
      std::cout << std::setw(6) << fixed(static_cast<double>(cosines.values<float>()[i * count + j]), 2);
    std::cout << "  " << printable(texts[i]) << '\n';
  }
}

Json similarities_json(const Tensor& cosines) {
  Json rows = Json::array();
  const std::size_t count = cosines.shape()[0];
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = cosines.values<float>().subspan(i * count, count);
    rows.push_back(std::vector<double>(row.begin(), row.end()));
  }
  return rows;
}

/// The texts of the command line, or a file's lines, some at a time.
class TextSource {
 public:
  explicit TextSource(const EmbedChoices& o) : name_(o.file), given_(o.texts), from_file_(!o.file.empty()) {
    if (!from_file_ || o.file == "-") return;
    file_.open(o.file);
    refuse_unless(file_ && !std::filesystem::is_directory(o.file), o.file);
  }
  std::vector<std::string> next() {
    if (!from_file_) return std::exchange(given_, {});
    std::vector<std::string> some;
    std::istream& in = file_.is_open() ? static_cast<std::istream&>(file_) : std::cin;
    for (std::string line; some.size() < kTextsAtOnce && std::getline(in, line);) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      some.push_back(std::move(line));
    }
    refuse_unless(!in.bad(), name_);
    return some;
  }

 private:
  static void refuse_unless(bool good, const std::string& name) {
    if (!good) throw DataError(concat("--text ", name, ": cannot be read"));
  }

  std::string name_;
  std::vector<std::string> given_;
  bool from_file_;
  std::ifstream file_;
};

void check(const EmbedChoices& o) {
  require(!o.folder.empty(), "which model? addnorm embed FOLDER 'a text' 'another'");
  require(o.texts.empty() || o.file.empty(), "texts and --text ", o.file, " are both given; leave one of them out");
  require(!o.texts.empty() || !o.file.empty(), "which texts? addnorm embed ", for_shell(o.folder),
          " 'a text' 'another', or --text FILE with one on each line");
}

void check_similar(std::size_t texts) {
  require(texts <= kMostSimilar, "--similar compares every text with every other, at most ", kMostSimilar, " of them; ", texts,
          " were given. Without it, embed gives the vectors of any number of texts");
}

/// What --similar compares.
struct Compared {
  std::vector<std::string> texts{};
  std::vector<float> vectors{};

  void add(std::span<const std::string> more, std::span<const float> values) {
    texts.insert(texts.end(), more.begin(), more.end());
    vectors.insert(vectors.end(), values.begin(), values.end());
  }
  /// Also a table on stdout, if asked for; nothing without texts.
  Json similarities(std::size_t width, bool table) const {
    if (texts.empty()) return {};
    const Tensor cosines = cosine_similarities(Tensor::of({texts.size(), width}, vectors));
    if (table) print_similarities(texts, cosines);
    return similarities_json(cosines);
  }
};

/// Until there are no more texts, a signal comes, or the reader of the output has gone.
void embed_all(const EmbedChoices& o, TextSource& source, Embedder& embedder, std::optional<VectorOutput>& output,
               Compared& compared) {
  for (auto texts = source.next(); !texts.empty() && SignalWatch::caught() == 0 && std::cout.good(); texts = source.next()) {
    if (o.similar) check_similar(compared.texts.size() + texts.size());
    const Tensor vectors = embedder(texts, o.file.empty() ? "text " : concat("--text ", o.file, ", line "));
    const auto values = vectors.values<float>();
    if (!output) output.emplace(o, embedder.width());
    for (std::size_t i = 0; (o.json || !o.similar) && i < texts.size(); ++i)
      output->add(values.subspan(i * embedder.width(), embedder.width()));
    if (o.similar) compared.add(texts, values);
  }
}

int run_embed(const EmbedChoices& o) {
  check(o);
  const SignalWatch signals;  // before any other thread
  use_threads(o.threads);
  TextSource source(o);
  Embedder embedder(load_run(o.folder, "", std::cerr), o.folder);
  if (!embedder.says_pooling())
    std::cerr << "the folder does not say how the vectors of tokens become one: their mean is taken\n";
  if (o.file == "-") note_if_waiting(std::cerr);
  std::optional<VectorOutput> output;  // begins with the first vectors: an input that is refused earlier leaves no output
  Compared compared;
  embed_all(o, source, embedder, output, compared);
  if (SignalWatch::caught() != 0) return SignalWatch::exit_code();
  if (!output) throw DataError(concat("--text ", o.file, ": there is no text in it"));
  const Json similarities = compared.similarities(embedder.width(), !o.json);
  output->finish(o.similar ? &similarities : nullptr);
  if (embedder.cut() > 0)
    std::cerr << "note: " << counted(embedder.cut(), "text") << " cut to " << embedder.most()
              << " tokens, the most this model takes\n";
  return 0;
}

}  // namespace

void add_embed(Program& program) {
  const auto o = std::make_shared<EmbedChoices>();
  Command command = program.command("embed", "one vector for each text, from an encoder such as all-MiniLM-L6-v2");
  command.positional("folder", o->folder,
                     "of sentence-transformers or Hugging Face (BERT, RoBERTa, DistilBERT), or an encoder of ours");
  command.positional("texts", o->texts, "one vector each, in this order");
  command.option("--text FILE", o->file, "the texts are the lines of this file; - reads the standard input");
  command.option("--similar", o->similar, "the cosine of every two texts instead of the vectors (--json: both)");
  command.option("--threads", o->threads, concat("at most so many; ", kThreadsByDefault));
  command.option("--json", o->json, "one JSON object on stdout");
  command.examples({"addnorm embed all-MiniLM-L6-v2 'A cat sits on the mat.' > vector.txt",
                    "addnorm embed all-MiniLM-L6-v2 --text sentences.txt --json > vectors.json",
                    "addnorm embed all-MiniLM-L6-v2 --similar 'a cat' 'a dog' 'the stock market'"});
  command.run([o] { return run_embed(*o); });
}

}  // namespace addnorm::cli
