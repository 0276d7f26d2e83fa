#include "addnorm/train/embedder.h"

#include <algorithm>

#include "addnorm/core/error.h"
#include "data/text/framed.h"

namespace addnorm {

Embedder::Embedder(RunModel model, const std::string& name) : model_(std::move(model)) {
  encoder_ = dynamic_cast<const Encoder*>(model_.model.get());
  if (encoder_ == nullptr)
    throw DataError(concat(name, " holds a model of kind ", name_of(model_.model->config().model),
                           "; vectors of texts come from an encoder"));
  if (model_.tokenizer == nullptr) throw_no_tokenizer(name);
  options_ = model_.sentence.value_or(SentenceOptions{});
  frame_ = model_.tokenizer->frame();
  pack_weights(*model_.model);
}

Tensor Embedder::operator()(std::span<const std::string> texts, const std::string& what) {
  std::vector<std::int32_t> ids;
  Tokens tokens{.ids = {}, .batch = texts.size(), .joined = true};
  for (const std::string& text : texts) {
    const std::size_t before = ids.size();
    ++seen_;
    try {
      add(text, ids);
    } catch (const Error& error) {
      throw DataError(concat(what, seen_, ": ", error.what()));
    }
    tokens.lengths.push_back(ids.size() - before);
  }
  tokens.ids = ids;
  return sentence_vectors(*encoder_, tokens, options_);
}

std::size_t Embedder::most() const {
  const std::size_t positions = encoder_->config().seq_len;
  return options_.max_tokens == 0 ? positions : std::min(options_.max_tokens, positions);
}

void Embedder::add(const std::string& text, std::vector<std::int32_t>& ids) {
  std::vector<std::int32_t> inner = model_.tokenizer->encode(text);
  const std::size_t around = frame_.before.size() + frame_.after.size();
  if (inner.size() + around > most()) {
    inner.resize(most() - std::min(most(), around));
    ++cut_;
  }
  require(inner.size() + around > 0, "an empty text has no tokens, and this model's tokenizer puts none around it; leave it out");
  const std::vector<std::int32_t> whole = framed(frame_, inner);
  ids.insert(ids.end(), whole.begin(), whole.end());
}

}  // namespace addnorm
