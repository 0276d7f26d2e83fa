#include "probe/xray/ids.h"

#include <charconv>
#include <sstream>

#include "addnorm/core/error.h"
#include "addnorm/core/rng.h"
#include "core/file.h"

namespace addnorm {
namespace {

std::int32_t id_of(const std::string& word, std::size_t vocabulary, const std::string& where) {
  std::uint32_t id = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), id);
  if (problem != std::errc() || end != word.data() + word.size() || id >= vocabulary)
    throw DataError(concat(where, ": '", word.substr(0, 40), "' is no id of this model, which has no tokenizer: 0 ... ",
                           vocabulary - 1, " are"));
  return static_cast<std::int32_t>(id);
}

}  // namespace

std::vector<std::vector<std::int32_t>> ids_of_lines(const std::string& file, const std::string& option, std::size_t vocabulary) {
  std::istringstream text(small_text(file, "a file of ids"));
  std::vector<std::vector<std::int32_t>> all;
  std::size_t number = 0;
  for (std::string line; std::getline(text, line);) {
    const std::string where = concat(option, " ", file, ", line ", ++number);
    for (char& letter : line)
      if (letter == ',' || letter == '\t' || letter == '\r') letter = ' ';
    std::istringstream words(line);
    all.emplace_back();
    for (std::string word; words >> word;) all.back().push_back(id_of(word, vocabulary, where));
  }
  return all;
}

std::vector<std::vector<std::int32_t>> drawn_ids(std::size_t vocabulary, std::size_t count) {
  std::vector<std::int32_t> ids;
  for (std::size_t i = 0; i < count; ++i) ids.push_back(static_cast<std::int32_t>(RandomKey(1).with(i).bits() % vocabulary));
  return {ids};
}

}  // namespace addnorm
