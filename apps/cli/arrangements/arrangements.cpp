// addnorm arrangements: the catalogue, or all about the arrangements that are named.
#include <algorithm>
#include <deque>
#include <filesystem>
#include <iostream>
#include <optional>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"
#include "addnorm/residual/catalogue.h"
#include "cli/arrangements/views.h"
#include "cli/terminal/command.h"
#include "cli/terminal/value.h"

namespace addnorm::cli {
namespace {

constexpr const char* kUsualNorm = "layernorm";

struct Options {
  std::vector<std::string> names;
  std::string format = "text", norm = kUsualNorm, model = "lm";
  std::int64_t layers = 12;
  std::optional<std::int64_t> decoder_layers;
  std::filesystem::path file;
  InitOptions init;
  ProcessStrings process;
  bool json = false, ascii = false, inits = false;
};

/// Those that are named, once each; an alias is answered with the canonical name. One's own comes where it is named, else last.
Rows rows_of(const std::vector<std::string>& names, const std::optional<Arrangement>& own) {
  Rows rows;
  const auto add = [&](const Arrangement& row) {
    if (std::ranges::find(rows, &row) == rows.end()) rows.push_back(&row);
  };
  for (const std::string& name : names) {
    const Arrangement& row = own && folded(name) == folded(own->name) ? *own : arrangement_named(name);
    if (row.name != name) std::cerr << "addnorm arrangements: " << name << " is " << row.name << '\n';
    add(row);
  }
  if (own) add(*own);
  if (rows.empty())
    for (const Arrangement& row : arrangements()) rows.push_back(&row);
  return rows;
}

/// The row of a file. A name of the catalogue would make two arrangements look like one.
std::optional<Arrangement> own_row(const std::filesystem::path& file) {
  if (file.empty()) return std::nullopt;
  Arrangement row = read_arrangement(file);
  const std::vector<std::string> taken = arrangement_names();
  require(std::ranges::find(taken, row.name) == taken.end(), file.string(), ": name is '", row.name,
          "', which the catalogue has; give your own another");
  return row;
}

/// --preprocess and its like name one more; answered with the canonical name and the norm they speak of.
Options with_process(Options o) {
  const ProcessStrings& p = o.process;
  if (p.pre.empty() && p.post.empty() && p.top.empty()) return o;
  const Processed found = arrangement_of(p);
  std::cerr << "addnorm arrangements: preprocess '" << p.pre << "', postprocess '" << p.post << "', postprocess-top '" << p.top
            << "' is " << found.arrangement->name << " with " << found.norm << '\n';
  o.names.push_back(found.arrangement->name);
  if (found.norm != kUsualNorm) o.norm = found.norm;
  return o;
}

void print_canonical_init(const std::string& given) {
  const std::string name = canonical_init(given);
  if (!name.empty() && name != given) std::cerr << "addnorm arrangements: init " << given << " is " << name << '\n';
}

/// The same rows, started by --init; what a reader should know of the two together goes to stderr.
std::deque<Arrangement> started(const Rows& rows, const InitOptions& init) {
  std::deque<Arrangement> all;
  print_canonical_init(init.rule);
  for (const Arrangement* row : rows) {
    all.push_back(with_init(*row, init));
    for (const std::string& note : init_notes(*row, init)) std::cerr << "addnorm arrangements: " << note << '\n';
  }
  return all;
}

std::string format_of(const Options& o) {
  const std::vector<std::string> known{"text", "svg", "mermaid", "json"};
  std::string format = o.json ? "json" : o.format;
  if (std::ranges::find(known, format) == known.end()) throw UsageError(unknown_name("format", format, known));
  return format;
}

int list_inits(const Options& o, const ArrangementView& view, const Terminal& terminal) {
  const std::string format = format_of(o);
  require(o.names.empty() && o.file.empty(), "--inits lists the rules of --init; leave out the names of arrangements");
  require(o.init.by_arrangement(), "--init ", o.init.rule,
          " is for arrangements; --inits lists all that it takes. Leave one out");
  require(o.norm == kUsualNorm, "--norm ", o.norm, " is for formulas of arrangements; --inits lists rules, which have none");
  require(format == "text" || format == "json", "--format ", format, " draws arrangements; the list of --inits is text or json");
  std::cout << (format == "json" ? inits_json(view) : inits_table(view, terminal));
  return 0;
}

Terminal terminal_of(const Options& o) {
  Terminal terminal = terminal_of_stdout();
  if (o.ascii) terminal.unicode = false;
  return terminal;
}

int run(const Options& given) {
  const Options o = with_process(given);
  const ArrangementView view = arrangement_view(o.model, o.norm, o.layers, o.decoder_layers);
  const Terminal terminal = terminal_of(o);
  if (o.inits) return list_inits(o, view, terminal);

  const std::string format = format_of(o);
  const std::optional<Arrangement> own = own_row(o.file);
  const std::deque<Arrangement> of_init = started(rows_of(o.names, own), o.init);
  Rows rows;
  for (const Arrangement& row : of_init) rows.push_back(&row);
  const bool all = o.names.empty() && !own;
  if (format == "json") {
    std::cout << arrangements_json(rows, view, !all);
  } else if (format == "text") {
    std::cout << (all ? arrangements_table : arrangements_page)(rows, view, terminal);
  } else {
    require(!all, "--format ", format, " draws what is named; name one arrangement or more, e.g. post-ln pre-ln");
    std::cout << (format == "svg" ? arrangements_svg : arrangements_mermaid)(rows, view);
  }
  return 0;
}

}  // namespace

void add_arrangements(Program& program) {
  const auto o = std::make_shared<Options>();
  Command command = program.command("arrangements", "where add and norm stand: the catalogue, or formula and picture of one");
  command.positional("names", o->names, "names or aliases; several are drawn side by side (default: a table of all)");
  command.option("--arrangement FILE", o->file, "a row of your own in a JSON file, e.g. my.json; docs/adding-an-arrangement.md");
  command.option("--preprocess LETTERS", o->process.pre, "Marian's and Sockeye's way to name one: n, with the two below");
  command.option("--postprocess LETTERS", o->process.post, "after the sub-layer, e.g. da or dan");
  command.option("--postprocess-top LETTERS", o->process.top, "after the stack, e.g. n");
  command.option("--format KIND", o->format, "text, svg, mermaid or json");
  command.option("--json", o->json, "the same as --format json: an array of objects");
  command.option("--layers", o->layers, "depth for which numbers of the initialisation are given");
  command.given("--decoder-layers N", "of the decoder, with --model seq2seq (default: as --layers)",
                [o](const std::string& text) { o->decoder_layers = parse_value<std::int64_t>(text); });
  command.option("--init NAME", o->init.rule, "how weights start: arrangement, xavier, gpt2, ...");
  command.option("--inits", o->inits, "list what --init takes, with what each draws from");
  command.option("--norm KIND", o->norm, "the norm in formulas, e.g. rmsnorm");
  command.option("--model KIND", o->model, "stacks to describe: lm, encoder or seq2seq (encoder and decoder)");
  command.option("--ascii", o->ascii, "no letters beyond ASCII; a terminal without UTF-8 gets that anyway");
  command.section("What is printed",
                  {{"formula", "x: the stream, x': after the unit, F: the branch; e: the embedding, y: what the stack gives"},
                   {"parameters", "d: width of the stream, f: inside the feed-forward part, H: heads"},
                   {"init", "the rule by which matrices start, and where it comes from; --init takes another"},
                   {"L, N, M", "layers of the stack, of the encoder beside a decoder, of that decoder"},
                   {"contained", "what the formula itself says of the start: no --init changes it"},
                   {"skip gain",
                    "how much of its input a stack passes to its output on the skip path alone, at initialisation, for an "
                    "input of variance 1 and branches of unit gain (or the gains of a Xavier initialisation)"},
                   {"with its init", "the same with the gains of an initialisation by N(0, 0.02²)"},
                   {"output std", "of the stack's output, where no norm keeps it at 1"}});
  command.examples({"addnorm arrangements", "addnorm arrangements pre-ln", "addnorm arrangements post-ln pre-ln --norm rmsnorm",
                    "addnorm arrangements deepnorm --model seq2seq --layers 18 --decoder-layers 6",
                    "addnorm arrangements --inits", "addnorm arrangements post-ln --init gpt2 --layers 24",
                    "addnorm arrangements --preprocess n --postprocess da --postprocess-top n",
                    "addnorm arrangements resi-dual --format svg > resi-dual.svg"});
  command.run([o] { return run(*o); });
}

}  // namespace addnorm::cli
