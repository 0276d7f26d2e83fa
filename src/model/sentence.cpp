#include "addnorm/model/sentence.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <optional>

#include "addnorm/autograd/tape.h"
#include "addnorm/core/parallel.h"
#include "addnorm/model/classifier.h"
#include "autograd/graph.h"
#include "core/system/mutex.h"
#include "tensor/arena/scope.h"

namespace addnorm {
namespace {

/// At most this many tokens go through the encoder together, unless one text has more: enough for products to run at full speed,
/// and what lies between two layers stays near. The same for every number of threads: without packed weights, bits depend on it.
constexpr std::size_t kTokensTogether = 192;
/// The last groups, at most this many, are shared by all threads, op by op.
constexpr std::size_t kFewGroups = 4;

void normalize_row(std::span<float> row) {
  double squares = 0;
  for (const float v : row) squares += static_cast<double>(v) * static_cast<double>(v);
  const double length = std::max(std::sqrt(squares), 1e-12);
  for (float& v : row) v = static_cast<float>(static_cast<double>(v) / length);
}

/// Texts one after another.
struct JoinedTexts {
  std::vector<std::int32_t> ids, types;
  std::vector<std::size_t> lengths;

  explicit JoinedTexts(const Tokens& tokens) : lengths(tokens.lengths) {
    if (lengths.empty()) lengths.assign(tokens.batch, tokens.tokens());
    std::size_t at = 0;
    for (const std::size_t length : lengths) {
      const auto take = [&](std::span<const std::int32_t> from, std::vector<std::int32_t>& to) {
        const auto some = from.subspan(at, length);
        to.insert(to.end(), some.begin(), some.end());
      };
      take(tokens.ids, ids);
      if (!tokens.types.empty()) take(tokens.types, types);
      at += tokens.joined ? length : tokens.tokens();
    }
  }

  /// Texts [first, last), which begin at token `at`.
  Tokens some(std::size_t first, std::size_t last, std::size_t at, std::size_t count) const {
    Tokens tokens{.ids = std::span(ids).subspan(at, count), .batch = last - first, .joined = true};
    tokens.lengths.assign(lengths.begin() + static_cast<std::ptrdiff_t>(first),
                          lengths.begin() + static_cast<std::ptrdiff_t>(last));
    if (!types.empty()) tokens.types = std::span(types).subspan(at, count);
    return tokens;
  }
};

/// Texts [first, last), which have tokens [at, at + count).
struct Group {
  std::size_t first, last, at, count;
};

std::vector<Group> groups_of(const std::vector<std::size_t>& lengths) {
  std::vector<Group> groups;
  std::size_t at = 0;
  for (std::size_t text = 0; text < lengths.size(); at += lengths[text++]) {
    if (groups.empty() || groups.back().count + lengths[text] > kTokensTogether) groups.push_back({text, text, at, 0});
    groups.back().last = text + 1;
    groups.back().count += lengths[text];
  }
  return groups;
}

/// call(group) for each of them. As long as there is a group for every thread, each takes one through the whole encoder by
/// itself: threads that met at the end of every op would wait for each other hundreds of times, and always for the slower one.
/// If groups throw, the exception of the first one is rethrown here; groups after it need not run.
template <class Call>
void for_each_group(const std::vector<Group>& groups, const Call& call) {
  const auto team = static_cast<std::size_t>(threads());
  const std::size_t rest = groups.size() % team;
  const std::size_t alone = team == 1 ? 0 : groups.size() - (rest <= kFewGroups ? rest : 0);
  std::exception_ptr thrown;
  std::atomic<std::size_t> thrown_by = alone;
  Mutex one_at_a_time;
  const bool check = detail::checking_finite();
  parallel_tasks(alone, [&](std::size_t group, std::size_t) {
    if (group > thrown_by) return;
    try {
      const NoGrad no_grad;  // of this thread, as are the others
      const BorrowLargerBlocks borrow;
      const std::optional<CheckFinite> as_the_caller = check ? std::make_optional<CheckFinite>() : std::nullopt;
      call(groups[group]);
    } catch (...) {
      const MutexLock lock(one_at_a_time);
      if (group < thrown_by) thrown = std::current_exception();
      thrown_by = std::min(group, thrown_by.load());
    }
  });
  if (thrown) std::rethrow_exception(thrown);
  for (std::size_t group = alone; group < groups.size(); ++group) call(groups[group]);
}

}  // namespace

Tensor sentence_vectors(const Model& encoder, const Tokens& tokens, const SentenceOptions& options) {
  check(tokens, encoder.config().seq_len, "sentence_vectors");
  const NoGrad no_grad;
  const BorrowLargerBlocks borrow;  // the last texts are fewer, and take what those before them had
  const JoinedTexts texts(tokens);
  check_ids(texts.some(0, tokens.batch, 0, texts.ids.size()), encoder.config().vocab, "sentence_vectors");
  const std::size_t width = encoder.config().d_model;
  Tensor y({tokens.batch, width});
  for_each_group(groups_of(texts.lengths), [&](const Group& group) {
    const Tokens some = texts.some(group.first, group.last, group.at, group.count);
    const Var vectors = pooled(encoder.body({.tokens = some}, {}), options.pooling, some.lengths, true);
    std::ranges::copy(vectors.value().values<float>(), y.data<float>() + group.first * width);
  });
  for (std::size_t b = 0; options.normalize && b < tokens.batch; ++b) normalize_row(y.values<float>().subspan(b * width, width));
  return y;
}

Tensor cosine_similarities(const Tensor& vectors) {
  require(vectors.defined() && vectors.shape().rank() == 2 && vectors.dtype() == DType::f32, "cosine_similarities: vectors are ",
          vectors.defined() ? vectors.shape().text() : "undefined", "; float32 [n, width] is needed");
  const std::size_t count = vectors.shape()[0], width = vectors.shape()[1];
  const auto dot = [&](std::size_t i, std::size_t j) {
    const float *a = vectors.data<float>() + i * width, *b = vectors.data<float>() + j * width;
    double sum = 0;
    for (std::size_t c = 0; c < width; ++c) sum += static_cast<double>(a[c]) * static_cast<double>(b[c]);
    return sum;
  };
  std::vector<double> squares(count);
  for (std::size_t i = 0; i < count; ++i) squares[i] = dot(i, i);
  Tensor cosines({count, count});
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < count; ++j) {
      const double lengths = std::sqrt(squares[i] * squares[j]);
      cosines.data<float>()[i * count + j] = lengths == 0 ? 0.0f : static_cast<float>(dot(i, j) / lengths);
    }
  return cosines;
}

}  // namespace addnorm
