// The kinds of data that a run can have: text (data.cpp), and samples one by one (samples.cpp).
#pragma once

#include "addnorm/data/language.h"
#include "addnorm/data/text.h"
#include "addnorm/train/run_data.h"

namespace addnorm {

/// Of made-up data that is measured and never trained on.
std::uint64_t validation_seed(std::uint64_t seed);
/// auto, bytes, chars, or a file. Null: stopped. What auto finds to be no text (compressed, UTF-16) is a DataError.
TokenizerChoice chosen_tokenizer(const RunOptions& options, const TextSources& sources, AddedTokens added,
                                 const Progress& progress);
/// Valid in any working directory.
std::vector<std::string> absolute_paths(const std::vector<std::string>& paths);
/// The files that the options name.
TextSources sources_of(const RunOptions& options);
std::unique_ptr<RunSource> open_text(const RunOptions& options, const std::filesystem::path& cache, const Progress& progress);
/// A language model that answers what stands before the begin token is only measured, on pairs.
bool answers_pairs(const RunOptions& options);
/// Pairs, labelled text, tables, and what is made up besides the language.
std::unique_ptr<RunSource> open_samples(const RunOptions& options, const Progress& progress);

}  // namespace addnorm
