// addnorm generate: what a trained model writes, token by token.
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <optional>
#include <sstream>

#include "addnorm/model/encoder_decoder.h"
#include "addnorm/model/language_model.h"
#include "cli/models/answers.h"
#include "cli/models/run_model.h"
#include "cli/terminal/command.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/value.h"
#include "core/json/json.h"
#include "data/text/framed.h"

namespace addnorm::cli {
namespace {

struct GenerateChoices {
  std::string run, weights;
  std::optional<std::string> prompt, source;
  std::uint64_t max_tokens = 200, n = 1;
  std::optional<std::uint64_t> top_k, seed, beams;
  std::optional<double> temperature, top_p;
  int threads = 0;

  bool json = false;

  /// The first of the options that say how tokens are drawn; none: "".
  const char* drawing() const { return top_k ? "--top-k" : top_p ? "--top-p" : seed ? "--seed" : ""; }
};

/// What can be checked from the command line alone.
void check(const GenerateChoices& o) {
  const double heat = o.temperature.value_or(1), top_p = o.top_p.value_or(1);
  require(!o.run.empty(), "which run? addnorm generate runs/NAME");
  require(heat >= 0, "--temperature is ", heat, "; it must be 0 (always the most probable token) or more");
  require(top_p > 0 && top_p <= 1, "--top-p is ", top_p, "; it must be above 0 and at most 1");
  require(o.n > 0, "--n is 0; it must be at least 1");
  require(!o.prompt || !o.source, "--prompt and --source are both given: a model has one of them, text or pairs");
  if (!o.beams) return;
  require(*o.beams > 0, "--beams is 0; it must be at least 1. Leave it out for no beam search");
  require(o.n <= *o.beams, "--n is ", o.n, "; with --beams ", *o.beams, " it must be 1 ... ", *o.beams,
          ": so many of the best answers are printed");
  const char* const draws = o.temperature ? "--temperature" : o.drawing();
  require(!*draws, draws, " has no effect with --beams, which draws nothing. Leave one of them out");
}

/// What depends on the model. Options without effect only give a note: scripts pass them all, whatever the temperature.
void check(const GenerateChoices& o, bool answers, std::ostream& notes) {
  if (answers) {
    require(!o.prompt, "--prompt is for models of text; ", o.run, " was trained on pairs and takes a --source");
    require(o.source.has_value(), o.run, " was trained on pairs: give it a --source");
  } else {
    require(!o.source, "--source is for models of pairs; ", o.run, " continues a --prompt");
    require(!o.beams, "--beams is for models of pairs, which have one best answer; ", o.run, " continues text");
  }
  if (o.beams || o.temperature.value_or(answers ? 0 : 1) > 0) return;
  const char* const usual = o.temperature ? "" : ", which pairs have unless you say otherwise";
  if (*o.drawing()) notes << "note: " << o.drawing() << " has no effect at --temperature 0" << usual << '\n';
  if (o.n > 1) notes << "note: all answers are the same at --temperature 0" << usual << '\n';
}

SamplingOptions sampling_of(const GenerateChoices& o, bool answers, std::uint64_t number) {
  return {.temperature = o.temperature.value_or(answers ? 0 : 0.8),
          .top_k = o.top_k.value_or(0),
          .top_p = o.top_p.value_or(1),
          .seed = RandomKey(o.seed.value_or(1)).with(number).bits()};
}

/// Texts as they come, or all at the end as JSON.
class Output {
 public:
  /// `lines`: each text is followed by the end of a line. Else what is written is the text, byte for byte.
  Output(bool json, bool lines) : json_(json), lines_(lines) {}
  bool wanted() const {
    return std::cout.good() && SignalWatch::caught() == 0;
  }  ///< false: the reader has gone, or a signal came
  /// The first space is not the text's where its tokenizer puts one before the first word.
  void begin(bool with_space = false) {
    texts_.emplace_back();
    space_ahead_ = with_space;
  }
  void add(std::string text) {
    if (text.empty()) return;
    if (space_ahead_ && text.front() == ' ') text.erase(0, 1);
    space_ahead_ = false;
    if (json_)
      texts_.back() += text;
    else
      std::cout << text << std::flush;
  }
  void end() {
    if (!json_ && lines_) std::cout << '\n';
  }
  /// Prints every token at once.
  std::function<bool(std::size_t, std::int32_t)> as_it_comes(const Tokenizer& tokenizer) {
    return [this, &tokenizer](std::size_t, std::int32_t token) {
      add(tokenizer.decode(std::span(&token, 1)));
      return wanted();
    };
  }
  void finish(const GenerateChoices& o) const {
    if (!json_) return;
    Json all{{"run", o.run}, {"texts", Json::array()}};
    if (o.prompt) all["prompt"] = *o.prompt;
    if (o.source) all["source"] = *o.source;
    for (const std::string& text : texts_) all["texts"].push_back(text);
    std::cout << all.dump() << '\n';
  }

 private:
  bool json_, lines_;
  bool space_ahead_ = false;
  std::vector<std::string> texts_;
};

std::vector<std::int32_t> encoded(const Tokenizer& tokenizer, const std::string& text, const char* option) {
  std::vector<std::int32_t> ids;
  try {
    ids = tokenizer.encode(text);
  } catch (const DataError& error) {  // given on the command line
    throw UsageError(concat(option, ": ", error.what(), "; the model knows only what it was trained on"));
  }
  const auto unknown = tokenizer.special().unknown;
  if (unknown && std::ranges::find(ids, *unknown) != ids.end())
    std::cerr << "note: " << option << " has parts that the model's tokenizer does not know; they are left out\n";
  return ids;
}

/// Text as it comes; a window that is full begins again with its second half, so that there is no limit to what is written.
void continue_text(const RunModel& run, const LanguageModel& model, const GenerateChoices& o, std::uint64_t number,
                   Output& output) {
  const Tokenizer& tokenizer = *run.tokenizer;
  std::vector<std::int32_t> all = encoded(tokenizer, o.prompt.value_or(""), "--prompt");
  output.add(tokenizer.decode(all));
  all = framed({.before = tokenizer.frame().before}, all);
  if (all.empty()) all.push_back(text_start(tokenizer).token);
  const std::size_t context = model.config().seq_len;
  if (number == 0 && all.size() > context)
    std::cerr << "note: the prompt has " << all.size() << " tokens, and this model takes " << context
              << " at once: it goes on from the last of them\n";
  std::size_t left = o.max_tokens;
  for (std::uint64_t window = 0; left > 0 && !SignalWatch::caught(); ++window) {
    const std::size_t keep = window == 0 ? std::min(all.size(), context) : context / 2 + 1;
    const std::span<const std::int32_t> prompt = std::span(all).last(std::min(keep, all.size()));
    GenerateOptions options{.sampling = sampling_of(o, false, number), .max_tokens = std::min(left, context - prompt.size() + 1)};
    options.sampling.seed += window;
    options.end_tokens = end_tokens(run);
    options.on_token = output.as_it_comes(tokenizer);
    const auto decoding = within_tokenizer(model.decoding(1), tokenizer);
    const std::vector<Generated> written = generate(*decoding, prompt, options);
    all.insert(all.end(), written[0].tokens.begin(), written[0].tokens.end());
    left -= std::min(left, std::max<std::size_t>(written[0].tokens.size(), 1));
    if (written[0].ended || !std::cout.good()) break;
  }
  output.end();
}

std::vector<std::int32_t> source_of(const RunModel& run, const GenerateChoices& o) {
  std::vector<std::int32_t> ids = encoded(*run.tokenizer, *o.source, "--source");
  const std::size_t most = longest_source(run);
  require(!ids.empty(), "--source is empty; give it something to answer");
  require(ids.size() <= most, "--source has ", ids.size(), " tokens; this model takes at most ", most);
  return ids;
}

void answer(const RunModel& run, const GenerateChoices& o, Output& output) {
  const std::vector<std::int32_t> ends = end_tokens(run);
  const std::vector<std::int32_t> source = source_of(run, o);
  for (std::uint64_t number = 0; number < o.n && output.wanted(); ++number) {
    const auto [decoding, prompt, room] = question(run, source);
    const std::size_t most = std::min<std::size_t>(o.max_tokens, room);
    if (most > 0 && o.beams) {
      const auto best = beam_search(*decoding, prompt, {.beams = *o.beams, .best = o.n, .max_tokens = most, .end_tokens = ends});
      for (const Generated& one : best.at(0)) {
        output.begin();
        output.add(run.tokenizer->decode(one.tokens));
        output.end();
      }
      return;
    }
    output.begin();
    if (most > 0) {
      GenerateOptions options{.sampling = sampling_of(o, true, number), .max_tokens = most, .end_tokens = ends};
      options.on_token = output.as_it_comes(*run.tokenizer);
      generate(*decoding, prompt, options);
    }
    output.end();
  }
}

int run_generate(const GenerateChoices& o) {
  check(o);
  const SignalWatch signals;  // before any other thread
  use_threads(o.threads);
  std::ostringstream notes;
  const RunModel run = load_run(o.run, o.weights, notes);
  const auto* lm = dynamic_cast<const LanguageModel*>(run.model.get());
  const bool pairs = dynamic_cast<const EncoderDecoder*>(run.model.get()) != nullptr;
  if (!lm && !pairs)
    throw DataError(concat(o.run, " holds a model of kind ", name_of(run.model->config().model),
                           ", which writes nothing; 'addnorm eval' measures it"));
  if (run.tokenizer == nullptr) throw_no_tokenizer(o.run);
  const bool answers = pairs || run.answers;
  check(o, answers, notes);
  if (!answers && o.prompt.value_or("").empty()) notes << "no --prompt: " << text_start(*run.tokenizer).summary << '\n';
  std::cerr << notes.str();
  Output output(o.json, answers || o.n > 1 || isatty(STDOUT_FILENO) != 0);
  if (answers) answer(run, o, output);
  for (std::uint64_t number = 0; !answers && number < o.n && output.wanted(); ++number) {
    if (number > 0 && !o.json) std::cout << "---\n";
    output.begin(run.tokenizer->adds_space());
    continue_text(run, *lm, o, number, output);
  }
  output.finish(o);
  return SignalWatch::caught() ? SignalWatch::exit_code() : 0;
}

void add_names_of_others(Command& command) {
  for (const auto& [theirs, ours] : {std::pair{"--max-new-tokens", "--max-tokens"},
                                     {"--num-samples", "--n"},
                                     {"--num-return-sequences", "--n"},
                                     {"--num-beams", "--beams"},
                                     {"--start", "--prompt"}})
    command.also_named(theirs, ours);
}

}  // namespace

void add_generate(Program& program) {
  const auto o = std::make_shared<GenerateChoices>();
  Command command = program.command("generate", "text from a trained model, as it comes");
  const auto number = [&](const char* name, std::optional<std::uint64_t> GenerateChoices::*into, const char* help) {
    command.given(name, help, [o, into](const std::string& text) { (*o).*into = parse_value<std::uint64_t>(text); });
  };
  const auto share = [&](const char* name, std::optional<double> GenerateChoices::*into, const char* help) {
    command.given(name, help, [o, into](const std::string& text) { (*o).*into = parse_value<double>(text); });
  };
  command.positional("run", o->run, "folder of a run, or of a checkpoint of others (Hugging Face, llama2.c)");
  command.given("--prompt TEXT", "what to continue (default, and for '': the beginning of a line)",
                [o](const std::string& text) { o->prompt = text; });
  command.given("--source TEXT", "pairs: what to answer", [o](const std::string& text) { o->source = text; });
  command.option("--max-tokens", o->max_tokens,
                 "most new tokens; when its positions are full, a model goes on from the second half of them");
  share("--temperature X", &GenerateChoices::temperature, "0: always the most probable token (default: 0.8; pairs 0)");
  number("--top-k N", &GenerateChoices::top_k, "draw from the N most probable tokens only; 0: from all (default: 0)");
  share("--top-p X", &GenerateChoices::top_p, "draw from the fewest tokens that have this probability together (default: 1)");
  number("--beams N", &GenerateChoices::beams, "pairs: beam search with so many (default: none)");
  number("--seed N", &GenerateChoices::seed, "same seed, same text (default: 1)");
  command.option("--n", o->n, "how many texts; with --beams the best so many");
  command.option("--weights NAME", o->weights, "best or last (default: the best, where validation data was measured)");
  command.option("--json", o->json, "one JSON object on stdout when all is written: run, prompt or source, texts");
  command.option("--threads", o->threads, concat("at most so many; ", kThreadsByDefault));
  command.examples({"addnorm generate runs/book --prompt 'ROMEO:' --max-tokens 300", "addnorm generate runs/book --temperature 0",
                    "addnorm generate runs/reverse --source abc"});
  add_names_of_others(command);
  command.run([o] { return run_generate(*o); });
}

}  // namespace addnorm::cli
