#include "addnorm/data/tasks.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <set>

#include "addnorm/core/error.h"
#include "addnorm/core/names.h"
#include "data/samples/draws.h"
#include "data/text/pack.h"

namespace addnorm {
namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kDigits = "0123456789";

struct Bounds {
  TaskOptions usual;
  std::size_t most;  // the most that `most` may be
  const char* what;  // least and most count
};

Bounds bounds_of(TaskKind kind) {
  switch (kind) {
    case TaskKind::add:
      return {{1, 4, 0}, 1000, "digits of a number"};
    case TaskKind::recall:
      return {{2, 8, 26}, 26, "letters to remember"};
    case TaskKind::number_words:
      return {{1, 6, 0}, 9, "digits"};
    default:
      return {{3, 10, 26}, 100000, "letters"};
  }
}

bool has_letters(TaskKind kind) { return kind != TaskKind::add && kind != TaskKind::number_words; }

std::string some_letters(Draws& draws, const TaskOptions& options) {
  std::string text(draws.between(options.least, options.most), ' ');
  for (char& c : text) c = kLetters[draws.below(static_cast<std::uint32_t>(options.symbols))];
  return text;
}

/// Digits, the first not 0 unless it is the only one.
std::string some_number(Draws& draws, const TaskOptions& options) {
  std::string text(draws.between(options.least, options.most), ' ');
  for (char& c : text) c = kDigits[draws.below(10)];
  if (text.size() > 1 && text[0] == '0') text[0] = kDigits[1 + draws.below(9)];
  return text;
}

std::string some_memory(Draws& draws, const TaskOptions& options) {
  const std::size_t pairs = draws.between(options.least, options.most);
  std::string keys(kLetters.substr(0, options.symbols)), text;
  for (std::size_t i = 0; i < pairs; ++i) {
    std::swap(keys[i], keys[i + draws.below(static_cast<std::uint32_t>(keys.size() - i))]);
    text += keys[i];
    text += kDigits[draws.below(10)];
  }
  return text + '?' + keys[draws.below(static_cast<std::uint32_t>(pairs))];
}

std::string some_question(TaskKind kind, Draws& draws, const TaskOptions& options) {
  switch (kind) {
    case TaskKind::add: {
      const std::string a = some_number(draws, options);
      return a + '+' + some_number(draws, options);
    }
    case TaskKind::recall:
      return some_memory(draws, options);
    case TaskKind::number_words:
      return some_number(draws, options);
    default:
      return some_letters(draws, options);
  }
}

bool all_of(std::string_view text, std::string_view allowed) {
  return !text.empty() && text.find_first_not_of(allowed) == text.npos;
}

std::string sum(std::string_view a, std::string_view b) {
  std::string digits;
  int carry = 0;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const auto digit = [i](std::string_view of) { return i < of.size() ? of[of.size() - 1 - i] - '0' : 0; };
    const int total = digit(a) + digit(b) + carry;
    digits += static_cast<char>('0' + total % 10);
    carry = total / 10;
  }
  if (carry > 0) digits += '1';
  while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
  std::ranges::reverse(digits);
  return digits;
}

std::string added(std::string_view source) {
  const std::size_t plus = std::min(source.find('+'), source.size());
  const std::string_view a = source.substr(0, plus), b = source.substr(std::min(plus + 1, source.size()));
  require(all_of(a, kDigits) && all_of(b, kDigits), "add: '", source, "'; a question looks like 86+517");
  return sum(a, b);
}

std::string recalled(std::string_view source) {
  const std::size_t mark = source.find('?');
  bool good = mark != source.npos && mark > 0 && mark % 2 == 0 && source.size() == mark + 2;
  for (std::size_t i = 0; good && i < mark; ++i) good = (i % 2 == 0 ? kLetters : kDigits).find(source[i]) != source.npos;
  require(good, "recall: '", source, "'; a question looks like d7a2f7?a");
  for (std::size_t i = 0; i < mark; i += 2)
    if (source[i] == source.back()) return std::string(1, source[i + 1]);
  refuse("recall: '", source, "' asks for '", source.back(), "', which is not in it");
}

std::string in_words(std::string_view source) {
  std::uint32_t number = 0;
  const bool good = all_of(source, kDigits) && source.size() <= 9;
  require(good, "number-words: '", source, "'; a question has one to nine digits");
  std::from_chars(source.data(), source.data() + source.size(), number);
  return number_words(number);
}

class TaskDataset : public Dataset {
 public:
  TaskDataset(const Task& task, std::uint64_t seed, PairForm form)
      : task_(task), tokenizer_(task.tokenizer()), tokens_(pair_tokens(*tokenizer_, "Task::dataset")), seed_(seed), form_(form) {}

  Batch batch(std::uint64_t first, std::size_t count) const override {
    Ragged sources, labels;
    for (std::size_t i = 0; i < count; ++i) {
      const TaskPair pair = task_.pair(seed_, first + i);
      sources.add(tokenizer_->encode(pair.source));
      std::vector<std::int32_t> target = tokenizer_->encode(pair.target);
      target.push_back(tokens_.end);
      labels.add(target);
    }
    std::vector<PairRow> rows;
    for (std::size_t i = 0; i < count; ++i) rows.push_back({sources[i], labels[i]});
    return packed(first, rows, form_, tokens_);
  }
  std::uint64_t size() const override { return 0; }

 private:
  Task task_;
  std::unique_ptr<Tokenizer> tokenizer_;
  PairTokens tokens_;
  std::uint64_t seed_;
  PairForm form_;
};

constexpr const char* kOnes[] = {"zero",     "one",     "two",     "three",     "four",     "five",    "six",
                                 "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
                                 "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
constexpr const char* kTens[] = {"", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"};

void say(std::string& text, const char* word) {
  if (!text.empty()) text += ' ';
  text += word;
}

/// Below 1000, and not 0.
void say_group(std::string& text, std::uint32_t group) {
  if (group >= 100) {
    say(text, kOnes[group / 100]);
    say(text, "hundred");
    group %= 100;
  }
  if (group >= 20) {
    say(text, kTens[group / 10]);
    group %= 10;
  }
  if (group > 0) say(text, kOnes[group]);
}

}  // namespace

std::string number_words(std::uint32_t number) {
  require(number < 1000000000, "number_words: ", number, "; it must be below 1000000000");
  if (number == 0) return kOnes[0];
  std::string text;
  const auto say_scale = [&](std::uint32_t group, const char* scale) {
    if (group == 0) return;
    say_group(text, group);
    if (*scale != '\0') say(text, scale);
  };
  say_scale(number / 1000000, "million");
  say_scale(number / 1000 % 1000, "thousand");
  say_scale(number % 1000, "");
  return text;
}

Task::Task(TaskKind kind, const TaskOptions& options) : kind_(kind), options_(options) {
  require_one_of("Task", "kind", kind, "TaskKind", {"copy", "reverse", "sort", "add", "recall", "number_words"});
  const Bounds bounds = bounds_of(kind);
  const std::string& name = task_names()[static_cast<std::size_t>(kind)];
  if (has_letters(kind) && options_.symbols == 0) options_.symbols = bounds.usual.symbols;
  if (has_letters(kind))
    require(options_.symbols >= 2 && options_.symbols <= 26, "Task ", name, ": symbols is ", options.symbols,
            "; it must be 2 to 26");
  else
    require(options.symbols == 0, "Task ", name, ": it has no letters to choose; symbols is ", options.symbols);
  const std::size_t cap = kind == TaskKind::recall ? options_.symbols : bounds.most;
  if (options_.most == 0) options_.most = std::max(std::min(bounds.usual.most, cap), options_.least);
  if (options_.least == 0) options_.least = std::min(bounds.usual.least, options_.most);
  require(options_.least <= options_.most && options_.most <= cap, "Task ", name, ": ", options_.least, " to ", options_.most,
          " ", bounds.what, "; allowed are 1 to ", cap, ", the least first");
}

TaskPair Task::pair(std::uint64_t seed, std::uint64_t index) const {
  Draws draws(RandomKey(seed).with(task_names()[static_cast<std::size_t>(kind_)]), index);
  std::string source = some_question(kind_, draws, options_);
  std::string target = answer(source);
  return {std::move(source), std::move(target)};
}

std::string Task::answer(std::string_view source) const {
  if (kind_ == TaskKind::add) return added(source);
  if (kind_ == TaskKind::recall) return recalled(source);
  if (kind_ == TaskKind::number_words) return in_words(source);
  const std::string_view letters = kLetters.substr(0, options_.symbols);
  require(all_of(source, letters), task_names()[static_cast<std::size_t>(kind_)], ": '", source,
          "'; a question has the letters a to ", letters.back());
  std::string target(source);
  if (kind_ == TaskKind::reverse) std::ranges::reverse(target);
  if (kind_ == TaskKind::sort) std::ranges::sort(target);
  return target;
}

std::string Task::alphabet() const {
  const std::string letters(kLetters.substr(0, options_.symbols)), digits(kDigits);
  if (kind_ == TaskKind::add) return digits + '+';
  if (kind_ == TaskKind::recall) return digits + letters + '?';
  if (kind_ != TaskKind::number_words) return letters;
  std::set<char> used(digits.begin(), digits.end());
  const auto use = [&](std::uint32_t number) {
    for (const char c : number_words(number)) used.insert(c);
  };
  for (std::uint32_t number = 0; number <= 100; ++number) use(number);
  for (const std::uint32_t number : {1000u, 1000000u}) use(number);
  return {used.begin(), used.end()};
}

std::size_t Task::longest_source() const {
  if (kind_ == TaskKind::add) return 2 * options_.most + 1;
  return kind_ == TaskKind::recall ? 2 * options_.most + 2 : options_.most;
}

std::size_t Task::longest_target() const {
  if (kind_ == TaskKind::add) return options_.most + 1;
  if (kind_ == TaskKind::recall) return 1;
  if (kind_ != TaskKind::number_words) return options_.most;
  constexpr std::string_view kWordiest = "373373373";  // "three hundred seventy three" is the longest group of three
  return in_words(kWordiest.substr(kWordiest.size() - options_.most)).size();
}

std::unique_ptr<Tokenizer> Task::tokenizer() const { return char_tokenizer(alphabet(), {.begin_end = true}); }

std::unique_ptr<Dataset> Task::dataset(std::uint64_t seed, PairForm form) const {
  require_one_of("Task::dataset", "form", form, "PairForm", {"seq2seq", "lm"});
  return std::make_unique<TaskDataset>(*this, seed, form);
}

const std::vector<std::string>& task_names() {
  static const std::vector<std::string> names = {"copy", "reverse", "sort", "add", "recall", "number-words"};
  return names;
}

TaskKind task_kind(std::string_view name) {
  const std::vector<std::string>& names = task_names();
  const auto found = std::ranges::find_if(names, [&](const std::string& known) { return folded(known) == folded(name); });
  require(folded(name) != folded("mixture"), "the task 'mixture' is a table of numbers, for a model mlp");
  require(found != names.end(), unknown_name("task", name, names));
  return static_cast<TaskKind>(found - names.begin());
}

}  // namespace addnorm
