// addnorm generate: what a trained model writes, token by token.
#include <functional>
#include <iostream>

#include "addnorm/core/machine.h"
#include "addnorm/core/parallel.h"
#include "addnorm/model/encoder_decoder.h"
#include "addnorm/model/generate.h"
#include "addnorm/model/language_model.h"
#include "commands.h"
#include "run_model.h"
#include "signals.h"
#include "value.h"

namespace addnorm::cli {
namespace {

struct GenerateChoices {
  std::string run, prompt, source, weights;
  std::uint64_t max_tokens = 200, top_k = 0, seed = 1, n = 1, beams = 0;
  double temperature = 0.8, top_p = 1;
  int threads = 0;
};

SamplingOptions sampling_of(const GenerateChoices& o, std::uint64_t number) {
  return {.temperature = o.temperature, .top_k = o.top_k, .top_p = o.top_p, .seed = RandomKey(o.seed).with(number).bits()};
}

std::vector<std::int32_t> end_tokens(const Tokenizer& tokenizer) {
  const auto end = tokenizer.special().end;
  return end ? std::vector{*end} : std::vector<std::int32_t>{};
}

/// Prints every token at once; a reader that has gone or a signal ends it.
std::function<bool(std::size_t, std::int32_t)> as_it_comes(const Tokenizer& tokenizer) {
  return [&tokenizer](std::size_t, std::int32_t token) {
    std::cout << tokenizer.decode(std::span(&token, 1)) << std::flush;
    return std::cout.good() && SignalWatch::caught() == 0;
  };
}

/// Text as it comes; a window that is full begins again with its second half, so that there is no limit to what is written.
void continue_text(const RunModel& run, const LanguageModel& model, const GenerateChoices& o, std::uint64_t number) {
  const Tokenizer& tokenizer = *run.tokenizer;
  std::vector<std::int32_t> all = tokenizer.encode(run.answers ? o.source : o.prompt);
  if (run.answers) all.push_back(tokenizer.special().begin.value());
  if (all.empty()) all.push_back(first_token(tokenizer));
  if (!run.answers) std::cout << tokenizer.decode(all) << std::flush;
  const std::size_t context = model.config().seq_len;
  std::size_t left = o.max_tokens;
  for (std::uint64_t window = 0; left > 0 && !SignalWatch::caught(); ++window) {
    const std::size_t keep = window == 0 ? std::min(all.size(), context) : context / 2 + 1;
    const std::span<const std::int32_t> prompt = std::span(all).last(std::min(keep, all.size()));
    GenerateOptions options{.sampling = sampling_of(o, number), .max_tokens = std::min(left, context - prompt.size() + 1)};
    options.sampling.seed += window;
    options.end_tokens = end_tokens(tokenizer);
    options.on_token = as_it_comes(tokenizer);
    const auto decoding = model.decoding(1);
    const std::vector<Generated> written = generate(*decoding, prompt, options);
    all.insert(all.end(), written[0].tokens.begin(), written[0].tokens.end());
    left -= std::min(left, std::max<std::size_t>(written[0].tokens.size(), 1));
    if (written[0].ended || !std::cout.good()) break;
  }
  std::cout << '\n';
}

void translate(const RunModel& run, const EncoderDecoder& model, const GenerateChoices& o, std::uint64_t number) {
  const Tokenizer& tokenizer = *run.tokenizer;
  const SpecialTokens special = tokenizer.special();
  require(special.begin && special.end, "the tokenizer of ", o.run, " has no begin and end tokens");
  const std::vector<std::int32_t> ids = tokenizer.encode(o.source);
  require(!ids.empty(), "--source is empty");
  const auto decoding = model.decoding({.ids = ids, .batch = 1});
  const std::vector<std::int32_t> prompt{*special.begin};
  const std::size_t most = std::min<std::size_t>(o.max_tokens, model.config().seq_len);
  if (o.beams > 0) {
    const auto best = beam_search(*decoding, prompt, {.beams = o.beams, .max_tokens = most, .end_tokens = {*special.end}});
    std::cout << tokenizer.decode(best.at(0).at(0).tokens) << '\n';
    return;
  }
  GenerateOptions options{.sampling = sampling_of(o, number), .max_tokens = most, .end_tokens = {*special.end}};
  options.on_token = as_it_comes(tokenizer);
  generate(*decoding, prompt, options);
  std::cout << '\n';
}

int run_generate(GenerateChoices o, bool temperature_given) {
  require(!o.run.empty(), "which run? addnorm generate runs/NAME");
  const SignalWatch signals;  // before any other thread
  set_threads(o.threads ? o.threads : granted_threads());
  const RunModel run = load_run(o.run, o.weights, std::cerr);
  const auto* lm = dynamic_cast<const LanguageModel*>(run.model.get());
  const auto* pairs = dynamic_cast<const EncoderDecoder*>(run.model.get());
  require(lm || pairs, o.run, " is a ", name_of(run.model->config().model), ", which writes nothing; 'addnorm eval' measures it");
  require(run.tokenizer != nullptr, o.run, " has no tokenizer.json, so there is no text to read or write");
  const bool answers = pairs || run.answers;
  require(answers || o.source.empty(), "--source is for models of pairs; ", o.run, " continues a --prompt");
  require(!answers || o.prompt.empty(), "--prompt is for models of text; ", o.run, " was trained on pairs and takes a --source");
  require(!answers || !o.source.empty(), o.run, " was trained on pairs: give it a --source");
  if (answers && !temperature_given) o.temperature = 0;  // one right answer
  for (std::uint64_t number = 0; number < o.n && !SignalWatch::caught() && std::cout.good(); ++number) {
    if (lm) continue_text(run, *lm, o, number);
    if (pairs) translate(run, *pairs, o, number);
    if (number + 1 < o.n) std::cout << (lm ? "---\n" : "");
  }
  return SignalWatch::caught() ? SignalWatch::exit_code() : 0;
}

}  // namespace

std::int32_t first_token(const Tokenizer& tokenizer) {
  try {
    if (const auto line = tokenizer.encode("\n"); line.size() == 1) return line.front();
  } catch (const DataError&) {  // an alphabet without line ends
  }
  return tokenizer.special().begin.value_or(0);
}

void add_generate(Program& program) {
  const auto o = std::make_shared<GenerateChoices>();
  const auto heated = std::make_shared<bool>(false);
  Command command = program.command("generate", "text from a trained model, as it comes");
  command.positional("run", o->run, "folder of a run, or of any model.safetensors with config.json and tokenizer.json");
  command.option("--prompt TEXT", o->prompt, "what to continue (default: the beginning of a line)");
  command.option("--source TEXT", o->source, "pairs: what to answer");
  command.option("--max-tokens", o->max_tokens, "most new tokens");
  command.given("--temperature X", "0: always the most probable token (default: 0.8; pairs 0)",
                [o, heated](const std::string& text) {
                  o->temperature = parse_value<double>(text);
                  *heated = true;
                });
  command.option("--top-k", o->top_k, "only the k most probable tokens; 0: all");
  command.option("--top-p", o->top_p, "only the fewest tokens that have this probability together");
  command.option("--beams", o->beams, "pairs: beam search with so many; 0: none");
  command.option("--seed", o->seed, "same seed, same text");
  command.option("--n", o->n, "how many texts");
  command.option("--weights NAME", o->weights, "best or last (default: the best, where validation data was measured)");
  command.option("--threads", o->threads, "at most so many; 0: what the machine or its container grants");
  command.examples({"addnorm generate runs/book --prompt 'ROMEO:' --max-tokens 300", "addnorm generate runs/book --temperature 0",
                    "addnorm generate runs/reverse --source abc"});
  command.run([o, heated] { return run_generate(*o, *heated); });
}

}  // namespace addnorm::cli
