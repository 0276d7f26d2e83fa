#include <algorithm>
#include <cmath>

#include "addnorm/autograd/tape.h"
#include "addnorm/model/generate.h"
#include "model/generate/logits.h"

namespace addnorm {
namespace {

using TokenIds = std::vector<std::int32_t>;

double score_of(double log_probability, std::size_t length, double penalty) {
  return log_probability / std::pow(static_cast<double>(length), penalty);
}

/// A followed sequence with one more token.
struct Candidate {
  double log_probability;
  std::size_t parent;  // in Search::live
  std::int32_t token;
};

/// The search for one row of the prompt.
class Search {
 public:
  Search(const BeamOptions& options, const Request& request, std::size_t max_length)
      : options_(options), request_(request), max_length_(max_length), live_{Generated{}} {}

  std::size_t live() const { return live_.size(); }
  const TokenIds& tokens(std::size_t i) const { return live_[i].tokens; }

  /// logits: rows first ... first + live(). Gives, for each sequence followed from now on, which of the old ones it continues.
  std::vector<std::size_t> step(const Tensor& logits, std::size_t first, std::string_view where) {
    ++length_;
    std::vector<Generated> followed;
    std::vector<std::size_t> parents;
    for (const Candidate& c : candidates(logits, first, where)) {
      const bool end = request_.ends(c.token);
      Generated next{live_[c.parent].tokens, c.log_probability, score_of(c.log_probability, length_, options_.length_penalty),
                     end};
      if (end) {
        put_aside_.push_back(std::move(next));
      } else {
        next.tokens.push_back(c.token);
        followed.push_back(std::move(next));
        parents.push_back(c.parent);
      }
    }
    live_ = std::move(followed);
    if (length_ == max_length_) std::ranges::move(live_, std::back_inserter(put_aside_));
    keep_best();
    if (length_ == max_length_ || decided()) live_.clear();
    if (live_.empty()) parents.clear();
    return parents;
  }

  std::vector<Generated> result() && { return std::move(put_aside_); }

 private:
  /// The `beams` best continuations, best first.
  std::vector<Candidate> candidates(const Tensor& logits, std::size_t first, std::string_view where) const {
    std::vector<Candidate> all;
    for (std::size_t i = 0; i < live_.size(); ++i) {
      std::vector<double> x = finite_logits(logits, first + i, where);
      const double norm = log_sum_exp(x);
      for (double& value : x) value = live_[i].log_probability + (value - norm);
      for (const std::int32_t token : ranked(x, options_.beams))
        if (const double p = x[static_cast<std::size_t>(token)]; p > -HUGE_VAL) all.push_back({p, i, token});
    }
    std::ranges::sort(all, [&](const Candidate& a, const Candidate& b) {
      if (a.log_probability != b.log_probability) return a.log_probability > b.log_probability;
      return a.parent != b.parent ? live_[a.parent].tokens < live_[b.parent].tokens : a.token < b.token;
    });
    if (all.size() > options_.beams) all.resize(options_.beams);
    return all;
  }

  void keep_best() {
    std::ranges::sort(put_aside_, [](const Generated& a, const Generated& b) {
      return a.score != b.score ? a.score > b.score : a.tokens < b.tokens;
    });
    if (put_aside_.size() > options_.best) put_aside_.resize(options_.best);
  }

  /// Log-probabilities only fall, so a sequence's score is at most its present one divided by the kindest length to come.
  bool decided() const {
    if (put_aside_.size() < options_.best || live_.empty()) return false;
    const std::size_t kindest = options_.length_penalty > 0 ? max_length_ : length_ + 1;
    return score_of(live_.front().log_probability, kindest, options_.length_penalty) < put_aside_.back().score;
  }

  const BeamOptions& options_;
  const Request& request_;
  std::size_t max_length_;
  std::size_t length_ = 0;
  std::vector<Generated> live_;       // best first, of one length
  std::vector<Generated> put_aside_;  // best score first, at most `best`
};

void check(const BeamOptions& o) {
  require(o.beams > 0, "beam_search: beams is 0; it must be at least 1 (1: greedy)");
  require(o.best > 0 && o.best <= o.beams, "beam_search: best is ", o.best, "; it must be between 1 and beams, which is ",
          o.beams);
  require(std::isfinite(o.length_penalty), "beam_search: length_penalty is ", o.length_penalty, "; it must be finite");
}

}  // namespace

std::vector<std::vector<Generated>> beam_search(Decoding& decoding, std::span<const std::int32_t> prompt,
                                                const BeamOptions& options) {
  check(options);
  const Request request{"beam_search", prompt, options.max_tokens, options.end_tokens};
  const std::size_t length = request.checked_length(decoding), rows = decoding.rows();

  const NoGrad no_grad;
  std::vector<Search> searches(rows, Search(options, request, length));
  Tensor logits = decoding.append(prompt);
  std::size_t live = rows;
  for (std::size_t t = 0; live > 0; ++t) {
    request.check(logits, live);
    std::vector<std::size_t> from;
    TokenIds tokens;
    std::size_t first = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      Search& search = searches[row];
      const std::size_t before = search.live();
      if (before == 0) continue;
      for (const std::size_t parent : search.step(logits, first, concat("row ", row, ", new token ", t)))
        from.push_back(first + parent);
      for (std::size_t i = 0; i < search.live(); ++i) tokens.push_back(search.tokens(i).back());
      first += before;
    }
    live = from.size();
    if (live == 0) break;
    decoding.select(from);
    logits = decoding.append(tokens);
  }
  std::vector<std::vector<Generated>> out;
  for (Search& search : searches) out.push_back(std::move(search).result());
  return out;
}

}  // namespace addnorm
