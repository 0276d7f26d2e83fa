#include "start_words.h"

#include <algorithm>

#include "addnorm/core/error.h"
#include "addnorm/lab/grid_result.h"
#include "addnorm/model/stack.h"

namespace addnorm::cli {

std::string start_words(const ModelConfig& model) {
  const StartText start = start_text(model);
  const Arrangement& row = arrangement_of(model);
  std::string words = start.weights_in_words;
  if (!model.init.by_arrangement())  // the rule by the name that was asked for: beside a formula it may come to another's
    words = model.init.rule + words.substr(std::min(words.find(" weights"), words.size()));
  if (!start.embeddings.empty()) words += ", embeddings " + start.embeddings;
  if (!contained_init(row, drawn_stacks(model)).empty()) words += concat(", and what the formula of ", row.name, " contains");
  return words;
}

}  // namespace addnorm::cli
