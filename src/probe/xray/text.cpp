#include "addnorm/probe/xray_text.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "addnorm/core/error.h"
#include "addnorm/data/masked.h"
#include "addnorm/data/sentences.h"
#include "addnorm/train/run_data.h"
#include "addnorm/train/run_folder.h"
#include "core/figures.h"
#include "core/file.h"
#include "data/text/framed.h"
#include "probe/training/roles.h"
#include "probe/xray/sequence_data.h"
#include "probe/xray/text_beginning.h"

namespace addnorm {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kWindow = 128;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    std::string line = text.substr(from, end - from);
    if (line.ends_with('\r')) line.pop_back();
    if (line.find_first_not_of(" \t") != std::string::npos) lines.push_back(std::move(line));
    from = end + 1;
  }
  return lines;
}

/// Our sentences, those that the tokenizer has letters for.
std::vector<std::string> known_sentences(const Tokenizer& tokenizer, const std::string& option) {
  std::vector<std::string> known;
  for (const std::string_view sentence : sentences())
    if (tokenizer.flaws(sentence).count == 0) known.emplace_back(sentence);
  if (known.empty())
    throw DataError(concat("the model's tokenizer has no letters for the built-in sentences; give ", option, " FILE"));
  return known;
}

/// "40 built-in sentences", "the first 3 of 40 built-in sentences".
std::string sentences_text(std::size_t read, std::size_t known) {
  const bool all = known == sentences().size();
  const std::string first = read == 1 ? concat("the first of ", known) : concat("the first ", read, " of ", known);
  if (read < known) return concat(first, " built-in sentences", all ? "" : " that the tokenizer has letters for");
  return all ? concat(known, " built-in sentences")
             : concat(known, " of ", sentences().size(), " built-in sentences, those that the tokenizer has letters for");
}

/// Windows of a text, one token more than a model reads, of which there are `tokens` at most. Every token is a label once;
/// without a token to begin with, all but the first. `window`: labels of one.
std::vector<Sequence> windows_of(const Sequence& ids, const Sequence& before, std::size_t window, std::size_t tokens) {
  std::vector<Sequence> all;
  const std::size_t unseen = before.empty() ? 1 : 0;                  // the text's first token is no label
  const std::size_t around = before.empty() ? 0 : before.size() - 1;  // tokens read beside one for each label
  for (std::size_t from = 0; from + unseen < ids.size() && tokens > around; from += window) {
    const std::size_t labels = std::min({window, ids.size() - unseen - from, tokens - around});
    all.push_back(framed({.before = before}, std::span(ids).subspan(from, labels + unseen)));
    tokens -= around + labels;
  }
  return all;
}

struct LineSequences {
  std::vector<Sequence> all{};
  std::size_t lines = 0;  ///< that they are of
};

/// Each line is a sequence, a long one several, between the tokens that begin and end a text; `tokens` in all at most.
LineSequences sequences_of_lines(const std::vector<std::string>& lines, const std::string& name, const Tokenizer& tokenizer,
                                 const TextFrame& frame, std::size_t longest, std::size_t tokens) {
  const std::size_t around = frame.before.size() + frame.after.size();
  LineSequences found;
  const std::size_t room = longest > around ? longest - around : 1;
  for (const std::string& line : lines) {
    if (tokens <= around) break;
    const Sequence ids = encoded(tokenizer, line, name);
    for (std::size_t from = 0, count = 0; from < ids.size() && tokens > around; from += count) {
      count = std::min({room, ids.size() - from, tokens - around});
      found.all.push_back(framed(frame, std::span(ids).subspan(from, count)));
      tokens -= around + count;
    }
    if (!ids.empty()) ++found.lines;
  }
  // Padding costs least where neighbours are equally long.
  std::ranges::stable_sort(found.all, {}, &Sequence::size);
  return found;
}

struct WantedText : XrayTextAsked {
  const RunModel& run;
  std::vector<std::string>& notes;

  std::string word(const char* field) const { return called(words, field); }

  /// Tokens of a sequence, `unasked` where no window is given.
  std::size_t longest(std::size_t unasked) const {
    const std::size_t most = run.model->config().seq_len;
    if (window > most)
      notes.push_back(concat("note: ", word("window"), " is ", window, ", the model has ", most, " positions: sequences have ",
                             most, " tokens"));
    return std::min(most, window > 0 ? window : unasked);
  }
};

XrayText of_language_model(const WantedText& w, std::string_view text, std::string source) {
  const Tokenizer& tokenizer = *w.run.tokenizer;
  const std::size_t window = w.longest(kWindow);
  Sequence before = w.run.family.empty() ? Sequence{} : tokenizer.frame().before;
  if (before.size() >= window) before.clear();
  require(w.tokens >= before.size(), w.word("tokens"), " is ", w.tokens, "; this model's tokenizer begins a text with ",
          before.size(), " tokens, and so many are read at least");
  const std::size_t enough = std::min(w.tokens, std::numeric_limits<std::size_t>::max() - window) + window;
  const Sequence ids = first_encoded(tokenizer, text, enough, source);
  const std::vector<Sequence> windows = windows_of(ids, before, window - (before.empty() ? 0 : before.size() - 1), w.tokens);
  if (windows.empty())
    throw DataError(concat(source, ": ", counted(ids.size(), "token"), "; a window has at least one to read and one to predict"));
  std::size_t read = before.empty() ? 1 : 0;
  for (const Sequence& one : windows) read += one.size() - std::max<std::size_t>(1, before.size());
  const SequenceData data(windows, true);
  std::vector<Batch> batches = batches_of(data, data);
  return {batches, batches.front(), std::move(source), read};
}

/// Of a language model without a tokenizer: the ids that a file gives, or such as are drawn.
XrayText of_ids(const WantedText& w) {
  require(w.file != "-", w.word("file"), " -: ids, for a model without a tokenizer, are read from a file");
  const ModelConfig& config = w.run.model->config();
  const std::size_t window = w.longest(kWindow);
  const auto given = w.file.empty() ? drawn_ids(config.vocab, std::min(w.tokens, 4 * window) + 1)
                                    : ids_of_lines(w.file, w.word("file"), config.vocab);
  if (w.file.empty())
    w.notes.push_back(concat("there is no tokenizer, so ids drawn at random are read, of which nothing can be predicted; ",
                             w.word("file"), " FILE may hold ids, a sequence on each line"));
  std::vector<Sequence> all;
  std::size_t left = w.tokens;
  for (const Sequence& ids : given)
    for (Sequence& one : windows_of(ids, {}, window, left)) {
      left -= one.size() - 1;
      all.push_back(std::move(one));
    }
  if (all.empty()) throw DataError(concat(w.word("file"), " ", w.file, ": no line has two ids, one to read and one to predict"));
  const SequenceData data(std::move(all), true);
  std::vector<Batch> batches = batches_of(data, data);
  return {batches, batches.front(), w.file.empty() ? "ids drawn at random" : concat("the ids of ", w.file), w.tokens - left};
}

XrayText of_encoder(const WantedText& w, const std::vector<std::string>& lines, std::string source) {
  const Tokenizer& tokenizer = *w.run.tokenizer;
  const ModelConfig& config = w.run.model->config();
  const TextFrame frame = w.run.family.empty() ? TextFrame{} : tokenizer.frame();
  const std::size_t around = frame.before.size() + frame.after.size();
  require(w.tokens > around, w.word("tokens"), " is ", w.tokens, "; this model's tokenizer puts ", counted(around, "token"),
          " around every text, so that it must be at least ", around + 1);
  LineSequences found = sequences_of_lines(lines, source, tokenizer, frame, w.longest(config.seq_len), w.tokens);
  const auto data = std::make_shared<const SequenceData>(std::move(found.all), false);
  if (data->size() == 0) throw DataError(concat(source, ": no token in it"));
  const std::vector<Batch> plain = batches_of(*data, *data);
  if (!config.head) return {plain, plain.front(), std::move(source), found.lines};
  require_mask(w.run, w.folder);
  w.notes.emplace_back("15 % of the tokens of every sequence are masked, and predicted");
  const auto hidden = masked(data, tokenizer, {.hidden = 1, .replaced = 0});
  return {batches_of(*hidden, *data), plain.front(), std::move(source), found.lines};
}

/// As many of the samples as have so many tokens; of a language model's first at least its beginning.
Batch at_most(Batch batch, const WantedText& w) {
  while (batch.sequences > 1 && batch.tokens() > w.tokens) batch = sequences_of(batch, 0, batch.sequences - 1);
  if (batch.tokens() <= w.tokens) return batch;
  if (w.run.model->config().model == ModelKind::lm && !w.run.answers && batch.lengths.empty()) {
    batch.ids.resize(w.tokens), batch.labels.resize(w.tokens);
    return batch;
  }
  w.notes.push_back(
      concat("note: ", w.word("tokens"), " is ", w.tokens, ", the first sample has ", batch.tokens(), ": it is read whole"));
  return batch;
}

/// Samples of the run's own data, or of a file of its kind: pairs, labelled text, a table.
XrayText of_source(const WantedText& w, const RunOptions& options, bool given) {
  const auto source = open_source(options, w.cache.empty() ? fs::path(w.folder) : w.cache);
  const RunData known = given ? RunData{} : source->datasets(options);
  const std::shared_ptr<const Dataset> data = known.validation ? known.validation : source->everything(options);
  const std::size_t few = data->size() > 0 ? static_cast<std::size_t>(std::min<std::uint64_t>(data->size(), 16)) : 16;
  const std::size_t per_sample = std::max<std::size_t>(1, data->batch(0, few).tokens() / few);
  const std::uint64_t wanted = std::max<std::uint64_t>(1, w.tokens / per_sample);
  const std::uint64_t count = data->size() > 0 ? std::min(wanted, data->size()) : wanted;
  const char* const own = known.validation ? "the validation data of the run" : "the data of the run, which it has learned from";
  const Batch batch = at_most(data->batch(0, static_cast<std::size_t>(count)), w);
  return {{batch}, batch, given ? w.file : own};
}

/// The options of the run with its own tokenizer; nothing where there is no record of one.
std::optional<RunOptions> options_of(const WantedText& w) {
  const RunFolder folder{w.folder};
  if (!is_there(folder.record())) return std::nullopt;
  RunOptions options = run_options_from_json(read_run_record(folder).options, folder.record().string()).options;
  options.words = w.words;
  options.model = w.run.model->config();
  options.extra = w.run.extra;
  return options;
}

bool reads_plain_text(const RunModel& run) {
  const ModelKind kind = run.model->config().model;
  return (kind == ModelKind::lm && !run.answers) || kind == ModelKind::encoder;
}

XrayText of_the_run(const WantedText& w, RunOptions options) {
  options.data = data_of_run(RunFolder{w.folder}, w.words);
  if (w.run.tokenizer && !options.data.empty()) options.tokenizer = w.run.tokenizer_path.string();
  return of_source(w, options, false);
}

/// A file of pairs, of labelled text, of numbers.
XrayText of_its_kind(const WantedText& w, std::optional<RunOptions> options) {
  require(w.file != "-", w.word("file"), " -: pairs, labelled text and tables are read from files");
  if (w.file.empty())
    throw DataError(concat(w.folder, " is ", with_article(w.run.model->config().model), w.run.answers ? " of pairs" : "",
                           ", which does not read plain sentences; give ", w.word("file"), " with a file of its kind"));
  if (!options) options.emplace().model = w.run.model->config(), options->extra = w.run.extra;
  options->words = w.words;
  options->data = {w.file};
  if (w.run.tokenizer) options->tokenizer = w.run.tokenizer_path.string();
  return of_source(w, *options, true);
}

XrayText of_the_file(const WantedText& w, bool lines) {
  const TextBeginning read = beginning_of_text(w.file, *w.run.tokenizer, w.go_on, w.word("file"));
  if (read.stopped) return {.stopped = true};
  XrayText found = lines ? of_encoder(w, lines_of(read.text), read.name) : of_language_model(w, read.text, read.name);
  std::size_t seen = 0;
  for (const Batch& batch : found.batches) seen += batch.tokens();
  if (read.cut && seen < w.tokens) w.notes.push_back(concat(read.name, ": only its first ", kMostTextSize, " are read"));
  return found;
}

XrayText of_sentences(const WantedText& w, bool lines) {
  const std::vector<std::string> known = known_sentences(*w.run.tokenizer, w.word("file"));
  const std::string name = sentences_text(known.size(), known.size());
  std::vector<std::string> joined;  // the first one, the first two, ...
  for (const std::string& sentence : known) joined.push_back(joined.empty() ? sentence : joined.back() + " " + sentence);
  XrayText found = lines ? of_encoder(w, known, name) : of_language_model(w, joined.back(), name);
  std::size_t count = lines ? found.read : 1;
  while (!lines && count < known.size() && w.run.tokenizer->encode(joined[count - 1]).size() < found.read) ++count;
  found.source = sentences_text(count, known.size());
  return found;
}

XrayText text_for(const WantedText& w) {
  const RunModel& run = w.run;
  const std::optional<RunOptions> options = options_of(w);
  const bool plain = reads_plain_text(run), own_data = w.file.empty() && options;
  require(w.window == 0 || !own_data, w.word("window"),
          " has no effect on the data of a run, whose samples have their length; give ", w.word("file"), ", or leave it out");
  require(w.window == 0 || plain, w.word("window"), " has no effect on pairs, labelled text and tables; leave it out");
  if (own_data) {
    try {
      return of_the_run(w, *options);
    } catch (const DataError& error) {
      if (!plain) throw;
      w.notes.push_back(concat("the data of the run cannot be read, so the model is shown other text: ", error.what()));
    }
  }
  if (!run.tokenizer && !run.family.empty() && run.model->config().model == ModelKind::lm) return of_ids(w);
  if (!run.tokenizer && run.model->config().model != ModelKind::mlp) throw_no_tokenizer(w.folder);
  if (!plain) return of_its_kind(w, options);
  const bool lines = run.model->config().model == ModelKind::encoder;
  return w.file.empty() ? of_sentences(w, lines) : of_the_file(w, lines);
}

}  // namespace

XrayText xray_text(const RunModel& run, const XrayTextAsked& asked) {
  require(asked.tokens > 0, called(asked.words, "tokens"), " is 0; it must be at least 1");
  std::vector<std::string> notes;
  XrayText found = text_for({asked, run, notes});
  found.notes = std::move(notes);
  return found;
}

}  // namespace addnorm
