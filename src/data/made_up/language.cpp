#include "addnorm/data/language.h"

#include <cmath>
#include <limits>

#include "addnorm/core/error.h"
#include "data/made_up/grammar.h"
#include "data/samples/draws.h"
#include "data/tokenizer/spec.h"

namespace addnorm {
namespace {

constexpr double kAdjective = 0.25;     // one more adjective
constexpr double kClause = 0.3;         // a clause after a noun
constexpr double kSubjectClause = 0.7;  // "that sees a cat" rather than "that a cat sees"
constexpr double kAdverb = 0.25;        // before the full stop
constexpr int kDeepestClause = 2;

struct WordClass {
  const char* name;
  std::vector<std::string> words;  // the most frequent first
};

const std::vector<WordClass>& word_classes() {
  static const std::vector<WordClass> all = {
      {"DET1", {"a", "this", "every"}},
      {"DET2", {"some", "these", "many"}},
      {"ADJ", {"old", "small", "grey", "wild", "clever", "quiet"}},
      {"NOUN1", {"dog", "cat", "bird", "farmer", "horse", "child"}},
      {"NOUN2", {"dogs", "cats", "birds", "farmers", "horses", "children"}},
      {"VERB1", {"sees", "likes", "follows", "hears", "finds", "knows"}},
      {"VERB2", {"see", "like", "follow", "hear", "find", "know"}},
      {"ADV", {"today", "often", "again", "here", "slowly"}},
  };
  return all;
}

std::vector<std::string> all_words() {
  std::vector<std::string> words = {".", "that"};
  for (const WordClass& each : word_classes()) words.insert(words.end(), each.words.begin(), each.words.end());
  return words;
}

void add_zipf(const WordClass& of, std::vector<Rule>& rules) {
  double total = 0;
  for (std::size_t k = 1; k <= of.words.size(); ++k) total += 1.0 / static_cast<double>(k);
  for (std::size_t k = 1; k <= of.words.size(); ++k)
    rules.push_back({of.name, 1.0 / static_cast<double>(k) / total, {of.words[k - 1]}});
}

/// Noun phrases that stand inside `depth` clauses; 1 and 2 are singular and plural.
void add_noun_phrases(int depth, std::vector<Rule>& rules) {
  const std::string here = std::to_string(depth), inside = std::to_string(depth + 1);
  for (const std::string n : {"1", "2"}) {
    const std::string phrase = "NP" + n + "/" + here, more = "MORE" + n + "/" + here, clause = "CLAUSE" + n + "/" + inside;
    rules.push_back({"NP/" + here, 0.5, {phrase}});
    rules.push_back({phrase, 1, {"DET" + n, "ADJ*", "NOUN" + n}});
    if (depth == kDeepestClause) continue;
    rules.back().right.push_back(more);
    rules.push_back({more, 1 - kClause, {}});
    rules.push_back({more, kClause, {"that", clause}});
    rules.push_back({clause, kSubjectClause, {"VERB" + n, "NP/" + inside}});
    for (const std::string m : {"1", "2"})
      rules.push_back({clause, (1 - kSubjectClause) / 2, {"NP" + m + "/" + inside, "VERB" + m}});
  }
}

Grammar built_in() {
  std::vector<Rule> rules;
  for (const std::string n : {"1", "2"})
    rules.push_back({"SENTENCES", 0.5, {"NP" + n + "/0", "VERB" + n, "NP/0", "END", "SENTENCES"}});
  rules.push_back({"END", 1 - kAdverb, {"."}});
  rules.push_back({"END", kAdverb, {"ADV", "."}});
  rules.push_back({"ADJ*", 1 - kAdjective, {}});
  rules.push_back({"ADJ*", kAdjective, {"ADJ", "ADJ*"}});
  for (int depth = 0; depth <= kDeepestClause; ++depth) add_noun_phrases(depth, rules);
  for (const WordClass& each : word_classes()) add_zipf(each, rules);
  return Grammar(all_words(), rules, "SENTENCES");
}

double entropy(const std::vector<double>& p) {
  double sum = 0;
  for (const double each : p)
    if (each > 0) sum -= each * std::log(each);
  return sum;
}

/// `count` words from the beginning on.
void write(const Grammar& grammar, std::uint64_t seed, std::uint64_t index, std::span<std::int32_t> words) {
  Draws draws(RandomKey(seed).with("language"), index);
  std::uint32_t state = Grammar::kStart;
  for (std::int32_t& word : words) {
    const Grammar::Step& step = grammar.pick(state, draws.uniform());
    word = step.word;
    state = step.next;
  }
}

class LanguageDataset : public Dataset {
 public:
  LanguageDataset(std::shared_ptr<const Grammar> grammar, std::size_t seq_len, std::uint64_t seed)
      : grammar_(std::move(grammar)), seq_len_(seq_len), seed_(seed) {}

  Batch batch(std::uint64_t first, std::size_t count) const override {
    Batch batch{.first = first, .sequences = count};
    std::vector<std::int32_t> words(seq_len_ + 1);
    for (std::size_t i = 0; i < count; ++i) {
      write(*grammar_, seed_, first + i, words);
      batch.ids.insert(batch.ids.end(), words.begin(), words.end() - 1);
      batch.labels.insert(batch.labels.end(), words.begin() + 1, words.end());
    }
    return batch;
  }
  std::uint64_t size() const override { return 0; }

 private:
  std::shared_ptr<const Grammar> grammar_;
  std::size_t seq_len_;
  std::uint64_t seed_;
};

}  // namespace

Language::Language() {
  static const auto built = std::make_shared<const Grammar>(built_in());
  grammar_ = built;
}

std::size_t Language::vocabulary() const { return words().size(); }
const std::vector<std::string>& Language::words() const { return grammar_->words(); }
std::size_t Language::states() const { return grammar_->states(); }

std::vector<std::int32_t> Language::sample(std::uint64_t seed, std::uint64_t index, std::size_t tokens) const {
  std::vector<std::int32_t> ids(tokens);
  write(*grammar_, seed, index, ids);
  return ids;
}

std::string Language::text(std::span<const std::int32_t> ids) const {
  std::string text;
  for (const std::int32_t id : ids) {
    require(id >= 0 && static_cast<std::size_t>(id) < vocabulary(), "Language::text: id ", id, "; ids are 0 ... ",
            vocabulary() - 1);
    const std::string& word = words()[static_cast<std::size_t>(id)];
    if (!text.empty() && word != ".") text += ' ';
    text += word;
  }
  return text;
}

std::uint32_t Language::after(std::uint32_t state, std::int32_t word) const {
  require(word >= 0 && static_cast<std::size_t>(word) < vocabulary(), "Language: id ", word, "; ids are 0 ... ",
          vocabulary() - 1);
  return grammar_->after(state, word);
}

std::uint32_t Language::state(std::span<const std::int32_t> prefix) const {
  std::uint32_t state = Grammar::kStart;
  for (std::size_t t = 0; t < prefix.size(); ++t) {
    const std::uint32_t to = after(state, prefix[t]);
    require(to != Grammar::kNowhere, "Language: '", words()[static_cast<std::size_t>(prefix[t])], "', word ", t,
            ", cannot follow '", text(prefix.first(t)), "'");
    state = to;
  }
  return state;
}

std::vector<double> Language::next(std::span<const std::int32_t> prefix) const {
  std::vector<double> p(vocabulary());
  for (const Grammar::Step& step : grammar_->steps(state(prefix))) p[static_cast<std::size_t>(step.word)] = step.probability;
  return p;
}

double Language::log_probability(std::span<const std::int32_t> sequence) const {
  double sum = 0;
  std::uint32_t state = Grammar::kStart;
  for (const std::int32_t word : sequence) {
    const std::uint32_t to = after(state, word);
    if (to == Grammar::kNowhere) return -std::numeric_limits<double>::infinity();
    for (const Grammar::Step& step : grammar_->steps(state))
      if (step.word == word) sum += std::log(step.probability);
    state = to;
  }
  return sum;
}

std::size_t Language::possible(std::span<const std::int32_t> sequence) const {
  std::uint32_t state = Grammar::kStart;
  for (std::size_t t = 0; t < sequence.size(); ++t) {
    state = after(state, sequence[t]);
    if (state == Grammar::kNowhere) return t;
  }
  return sequence.size();
}

Baselines Language::baselines(std::size_t seq_len) const {
  require(seq_len > 0, "Language::baselines: seq_len is 0; it must be at least 1");
  const std::size_t n = vocabulary();
  // P_t(s): probability of state s after t words. before: its sum over t = 0 ... seq_len - 1, where a word is read whose
  // successor is a label; after: over t = 1 ... seq_len, where that label is predicted.
  std::vector<double> at(states()), before(states()), predicting(states());
  at[Grammar::kStart] = 1;
  for (std::size_t t = 0; t < seq_len; ++t) {
    std::vector<double> then(states());
    for (std::uint32_t s = 0; s < states(); ++s) {
      before[s] += at[s];
      for (const Grammar::Step& step : grammar_->steps(s)) then[step.next] += at[s] * step.probability;
    }
    at = std::move(then);
    for (std::size_t s = 0; s < states(); ++s) predicting[s] += at[s];
  }
  const double scale = 1.0 / static_cast<double>(seq_len);
  double floor = 0;
  std::vector<double> words(n), read(n), pairs(n * n);
  for (std::uint32_t s = 0; s < states(); ++s) {
    for (const Grammar::Step& step : grammar_->steps(s)) {
      const auto word = static_cast<std::size_t>(step.word);
      floor -= predicting[s] * scale * step.probability * std::log(step.probability);
      words[word] += predicting[s] * scale * step.probability;
      const double mass = before[s] * scale * step.probability;
      read[word] += mass;
      for (const Grammar::Step& second : grammar_->steps(step.next))
        pairs[word * n + static_cast<std::size_t>(second.word)] += mass * second.probability;
    }
  }
  return {.floor = floor,
          .uniform = std::log(static_cast<double>(n)),
          .unigram = entropy(words),
          .bigram = entropy(pairs) - entropy(read)};
}

std::unique_ptr<Dataset> Language::dataset(std::size_t seq_len, std::uint64_t seed) const {
  require(seq_len > 0, "Language::dataset: seq_len is 0; it must be at least 1");
  return std::make_unique<LanguageDataset>(grammar_, seq_len, seed);
}

// Of whole words: as a tokenizer.json, BPE in which a word that is a token is taken as it is, and nothing is merged.
std::unique_ptr<Tokenizer> Language::tokenizer(AddedTokens added) const {
  TokenizerSpec spec;
  spec.model = "BPE";
  spec.ignore_merges = true;
  std::int32_t id = 0;
  for (const std::string& word : words()) spec.vocabulary.add(word, id++);
  const auto add = [&](const char* name) {
    AddedToken token;
    token.id = id++;
    token.content = name;
    token.special = true;
    spec.added.push_back(std::move(token));
  };
  if (added.begin_end) add("<s>");
  if (added.begin_end) add("</s>");
  if (added.mask) add("<mask>");
  spec.pre_tokenizer = R"({"type":"Whitespace"})";
  spec.decoder = R"({"type":"WordPiece","prefix":"##","cleanup":true})";
  return pipeline_tokenizer(std::move(spec), "the built-in language");
}

}  // namespace addnorm
