// Ids in place of text, for models that have no tokenizer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace addnorm {

/// The numbers of each line of a file (at most 1 MiB), between blanks or commas. What is no id of the vocabulary is a DataError
/// that names the line; `option` is what it calls the file's option.
std::vector<std::vector<std::int32_t>> ids_of_lines(const std::string& file, const std::string& option, std::size_t vocabulary);

/// One sequence of `count` ids, each as probable as every other; the same every time.
std::vector<std::vector<std::int32_t>> drawn_ids(std::size_t vocabulary, std::size_t count);

}  // namespace addnorm
