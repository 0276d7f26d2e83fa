#include "addnorm/model/encoder_decoder.h"

#include "addnorm/autograd/tape.h"
#include "model/generate/decodings.h"

namespace addnorm {
namespace {

constexpr const char* kEncoder = "encoder";
constexpr const char* kDecoder = "decoder";

}  // namespace

EncoderDecoder::EncoderDecoder(const ModelConfig& given, Start start)
    : Model(given, ModelKind::seq2seq),
      source_(config(), config().vocab, "source"),
      target_(config(), config().shared_vocab ? 0 : config().target_vocab, "target"),
      encoder_(config(), StackKind::encoder),
      decoder_(config(), StackKind::decoder),
      head_(config(), config().target_vocab) {
  if (start == Start::drawn) draw(1);
}

const Embedding& EncoderDecoder::target_table() const { return config().shared_vocab ? source_.table() : target_.table(); }

Var EncoderDecoder::encode(const Tokens& source, const Pass& pass, StreamObserver* observer) const {
  require(!source.joined, "EncoderDecoder: the sources are joined; cross-attention needs one row for each: pad them instead");
  const NameScope scope("encoder");
  const Pass own = encoder_.pass_for(pass, source);
  return encoder_(source_(source, own), {.lengths = source.lengths, .observer = observer}, own);
}

/// The decoder's exit, before the head.
Var EncoderDecoder::decode(const Tokens& target, StackInput input, const Pass& pass) const {
  require(!target.joined, "EncoderDecoder: the targets are joined; cross-attention needs one row for each: pad them instead");
  const NameScope scope("decoder");
  const Pass own = decoder_.pass_for(pass, target);
  const std::size_t first = input.cache ? input.cache->length : 0;
  input.lengths = target.lengths;
  return decoder_(target_(target, target_table(), own, first), input, own);
}

Var EncoderDecoder::operator()(const Tokens& source, const Tokens& target, const Pass& pass, StreamObserver* of_encoder,
                               StreamObserver* of_decoder) const {
  return logits({.tokens = source, .target = target}, pass, {.stream = of_encoder, .decoder = of_decoder});
}

Var EncoderDecoder::body(const ModelInput& input, const Pass& pass, const StreamObservers& watch) const {
  const Tokens &source = input.tokens, &target = input.target;
  require(source.batch == target.batch, "EncoderDecoder: ", source.batch, " sources and ", target.batch,
          " targets; they belong together one by one");
  const Var memory = encode(source, pass, watch.stream);
  return decode(target, {.memory = memory, .memory_lengths = source.lengths, .observer = watch.decoder}, pass);
}

std::optional<Distribution> EncoderDecoder::init(const Parameter& parameter, const Part& part) const {
  const bool of_encoder = parameter.place.stack && std::string_view(parameter.place.stack) == kEncoder;
  return (of_encoder ? encoder_ : decoder_).residual().init(parameter, part);
}

void EncoderDecoder::visit(Visitor& visitor) {
  visitor.child("source", source_, {.stack = kEncoder});
  visitor.child("target", target_, {.stack = kDecoder});
  visitor.child("encoder", encoder_, {.stack = kEncoder});
  visitor.child("decoder", decoder_, {.stack = kDecoder});
  visitor.child("head", head_, {.stack = kDecoder});
}

namespace {

std::vector<std::size_t> selected(const std::vector<std::size_t>& lengths, std::span<const std::size_t> from) {
  std::vector<std::size_t> some;
  if (!lengths.empty())
    for (const std::size_t row : from) some.push_back(lengths[row]);
  return some;
}

}  // namespace

class EncoderDecoderDecoding final : public Decoding {
 public:
  EncoderDecoderDecoding(const EncoderDecoder& model, const Tokens& source)
      : model_(model), rows_(source.batch), lengths_(source.lengths) {
    const NoGrad no_grad;
    memory_ = model.encode(source);
    cache_ = model.decoder_.cache(rows_, model.config().seq_len);
  }
  Tensor append(std::span<const std::int32_t> tokens) override {
    const NoGrad no_grad;
    const StackInput input{.memory = memory_, .memory_lengths = lengths_, .cache = &cache_};
    const Var y = model_.decode({.ids = tokens, .batch = rows_}, input, {});
    memory_ = Var();  // its keys and values are in the cache now
    return model_.head_(Var(last_token(y.value())), model_.target_table()).value();
  }
  void select(std::span<const std::size_t> from) override {
    check_rows(from, rows_);
    require(!memory_.defined(), "Decoding: rows are selected before the first token; append one first");
    cache_.select(from);
    lengths_ = selected(lengths_, from);
    rows_ = from.size();
  }
  std::size_t rows() const override { return rows_; }
  std::size_t room() const override { return model_.config().seq_len - cache_.length; }

 private:
  const EncoderDecoder& model_;
  std::size_t rows_;
  std::vector<std::size_t> lengths_;
  Var memory_;
  StackCache cache_;
};

std::unique_ptr<Decoding> EncoderDecoder::decoding(const Tokens& source, bool cached) const {
  check(source, config().seq_len, "EncoderDecoder: source");
  if (cached) return std::make_unique<EncoderDecoderDecoding>(*this, source);
  const std::vector<std::int32_t> ids(source.ids.begin(), source.ids.end());
  const auto logits = [this, ids, count = source.tokens(), lengths = source.lengths](const Tokens& prefix,
                                                                                     std::span<const std::size_t> origin) {
    std::vector<std::int32_t> rows;
    for (const std::size_t row : origin)
      rows.insert(rows.end(), ids.begin() + static_cast<std::ptrdiff_t>(row * count),
                  ids.begin() + static_cast<std::ptrdiff_t>((row + 1) * count));
    const Tokens own{.ids = rows, .batch = origin.size(), .lengths = selected(lengths, origin)};
    const Var y = decode(prefix, {.memory = encode(own), .memory_lengths = own.lengths}, {});
    return head_(Var(last_token(y.value())), target_table()).value();
  };
  return std::make_unique<PrefixDecoding>(source.batch, config().seq_len, logits);
}

}  // namespace addnorm
