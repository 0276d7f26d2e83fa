// Tasks: endless pairs of a question and its only right answer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "addnorm/data/dataset.h"
#include "addnorm/data/sample_files.h"
#include "addnorm/data/tokenizer.h"

namespace addnorm {

enum class TaskKind {
  copy,          ///< gcab -> gcab
  reverse,       ///< gcab -> bacg
  sort,          ///< gcab -> abcg
  add,           ///< 86+517 -> 603
  recall,        ///< d7a2f7?a -> 2: letters and the digits that belong to them, then one of the letters
  number_words,  ///< 5080 -> five thousand eighty
};

/// 0: what the task has by itself.
struct TaskOptions {
  std::size_t least = 0;    ///< shortest source: letters, digits of each number, or letters to remember
  std::size_t most = 0;     ///< longest
  std::size_t symbols = 0;  ///< how many letters there are, 2 to 26, where there are letters
};

struct TaskPair {
  std::string source, target;
};

/// Pair i is a function of (seed, i). The answer follows from the question: a perfect model's loss is 0. What is for validation
/// is made with another seed; short questions come up in both.
class Task {
 public:
  explicit Task(TaskKind kind, const TaskOptions& options = {});

  TaskKind kind() const { return kind_; }
  const TaskOptions& options() const { return options_; }  ///< nothing is 0
  TaskPair pair(std::uint64_t seed, std::uint64_t index) const;
  /// The right answer to a question of this kind, of any length; a UsageError says what is wrong with another.
  std::string answer(std::string_view source) const;

  std::string alphabet() const;                  ///< every character of questions and answers
  std::size_t longest_source() const;            ///< characters
  std::size_t longest_target() const;            ///< characters, without begin and end
  std::unique_ptr<Tokenizer> tokenizer() const;  ///< of the alphabet's characters, with begin and end token
  /// Endless, with the ids of tokenizer().
  std::unique_ptr<Dataset> dataset(std::uint64_t seed, PairForm form = PairForm::seq2seq) const;

 private:
  TaskKind kind_;
  TaskOptions options_;
};

/// "copy", "reverse", "sort", "add", "recall", "number-words", in the order of TaskKind.
const std::vector<std::string>& task_names();
/// By name, without regard to case, dashes and underscores; an unknown one is a UsageError with the nearest.
TaskKind task_kind(std::string_view name);
/// 5080 -> "five thousand eighty"; up to nine digits.
std::string number_words(std::uint32_t number);

}  // namespace addnorm
