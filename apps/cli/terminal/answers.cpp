#include "cli/terminal/answers.h"

#include <limits>
#include <utility>

#include "addnorm/core/error.h"
#include "addnorm/model/encoder_decoder.h"
#include "addnorm/model/language_model.h"
#include "core/printable.h"

namespace addnorm::cli {

TextStart text_start(const Tokenizer& tokenizer) {
  constexpr const char* kAfterBegin = "it begins after the token that begins a text";
  if (const TextFrame frame = tokenizer.frame(); !frame.before.empty()) return {frame.before.back(), kAfterBegin};
  try {
    if (const auto line = tokenizer.encode("\n"); line.size() == 1) return {line.front(), "it begins at the start of a line"};
  } catch (const DataError&) {  // an alphabet without line ends
  }
  if (const auto begin = tokenizer.special().begin) return {*begin, kAfterBegin};
  const std::int32_t first = 0;
  return {first,
          concat("it goes on from '", printable(tokenizer.decode(std::span(&first, 1))), "', the first token of its vocabulary")};
}

std::vector<std::int32_t> end_tokens(const RunModel& run) {
  if (!run.ends.empty()) return run.ends;
  const SpecialTokens special = run.tokenizer->special();
  const auto end = special.end ? special.end : special.begin;  // where another text begins, this one is over
  return end ? std::vector{*end} : std::vector<std::int32_t>{};
}

namespace {

class WithinVocabulary final : public Decoding {
 public:
  WithinVocabulary(std::unique_ptr<Decoding> inner, std::size_t vocabulary) : inner_(std::move(inner)), vocabulary_(vocabulary) {}
  Tensor append(std::span<const std::int32_t> tokens) override {
    Tensor logits = inner_->append(tokens);
    const std::size_t width = logits.shape()[1];
    for (std::size_t row = 0; row < logits.shape()[0]; ++row)
      for (std::size_t id = vocabulary_; id < width; ++id)
        logits.values<float>()[row * width + id] = -std::numeric_limits<float>::infinity();
    return logits;
  }
  void select(std::span<const std::size_t> from) override { inner_->select(from); }
  std::size_t rows() const override { return inner_->rows(); }
  std::size_t room() const override { return inner_->room(); }

 private:
  std::unique_ptr<Decoding> inner_;
  std::size_t vocabulary_;
};

}  // namespace

std::unique_ptr<Decoding> within_tokenizer(std::unique_ptr<Decoding> decoding, const Tokenizer& tokenizer) {
  return std::make_unique<WithinVocabulary>(std::move(decoding), tokenizer.vocabulary());
}

std::size_t longest_source(const RunModel& run) {
  return run.model->config().seq_len - (run.answers ? 1 : 0);  // the begin token follows it
}

Question question(const RunModel& run, std::vector<std::int32_t> source) {
  const SpecialTokens special = run.tokenizer->special();
  if (!special.begin || !special.end)
    throw DataError(concat((run.folder / "tokenizer.json").string(), ": has no begin and end tokens, which answers need"));
  const std::size_t seq_len = run.model->config().seq_len;
  if (const auto* pairs = dynamic_cast<const EncoderDecoder*>(run.model.get()))
    return {within_tokenizer(pairs->decoding({.ids = source, .batch = 1}), *run.tokenizer), {*special.begin}, seq_len};
  source.push_back(*special.begin);
  const std::size_t room = seq_len - source.size() + 1;
  const auto& lm = dynamic_cast<const LanguageModel&>(*run.model);
  return {within_tokenizer(lm.decoding(1), *run.tokenizer), std::move(source), room};
}

}  // namespace addnorm::cli
