// The kinds of data that a run can have: text (run_data.cpp), and samples one by one (run_samples.cpp).
#pragma once

#include "addnorm/data/language.h"
#include "addnorm/data/text.h"
#include "addnorm/train/run_data.h"

namespace addnorm {

/// Of made-up data that is measured and never trained on.
std::uint64_t validation_seed(std::uint64_t seed);
/// auto, bytes, chars, or a file. Null: stopped.
std::shared_ptr<const Tokenizer> chosen_tokenizer(const std::string& name, const TextSources& sources, AddedTokens added,
                                                  const Progress& progress);
std::unique_ptr<RunSource> open_text(const RunOptions& options, const std::filesystem::path& cache, const Progress& progress);
/// Pairs, labelled text, tables, and what is made up besides the language.
std::unique_ptr<RunSource> open_samples(const RunOptions& options, const Progress& progress);

}  // namespace addnorm
