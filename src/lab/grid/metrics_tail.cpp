#include "lab/grid/metrics_tail.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <system_error>

#include "core/json/json.h"

namespace addnorm {

void MetricsTail::read_anew() {
  read_to_ = 0;
  begun_.clear();
  losses_.clear();
  there_.clear();
  stopped_.clear();
  look();
}

std::size_t MetricsTail::first_missing(std::size_t last) const {
  const auto end = there_.begin() + static_cast<std::ptrdiff_t>(std::min(last, there_.size()));
  const auto found = static_cast<std::size_t>(std::find(there_.begin(), end, false) - there_.begin());
  return found < last ? found + 1 : 0;
}

bool MetricsTail::look() {
  std::error_code missing;
  const std::uint64_t size = std::filesystem::file_size(file_, missing);
  if (missing || size == read_to_) return false;
  if (size < read_to_) return read_anew(), true;
  std::ifstream in(file_, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(read_to_));
  std::string fresh(size - read_to_, '\0');
  in.read(fresh.data(), static_cast<std::streamsize>(fresh.size()));
  fresh.resize(static_cast<std::size_t>(in.gcount()));
  read_to_ += fresh.size();
  begun_ += fresh;
  std::size_t from = 0;
  for (std::size_t end; (end = begun_.find('\n', from)) != std::string::npos; from = end + 1)
    take(begun_.substr(from, end - from));
  begun_.erase(0, from);
  return true;
}

void MetricsTail::take(const std::string& line) {
  const Json json = parsed_or_null(line);
  const Json* step = json.find("step");
  if (step == nullptr || !step->is_integer() || step->integer() < 0 || step->integer() > 100'000'000) return;
  const auto at = static_cast<std::size_t>(step->integer());
  if (const Json* why = json.find("stopped"); why && why->is_string()) stopped_ = why->text();
  if (json.contains("rolled_back_from")) {
    losses_.resize(std::min(losses_.size(), at));
    there_.resize(losses_.size());
  }
  const Json* loss = json.find("loss");
  if (loss == nullptr || at == 0) return;
  losses_.resize(at, std::nan(""));
  there_.resize(at, false);
  there_[at - 1] = true;
  losses_[at - 1] = loss->is_number() ? loss->number() : std::nan("");
}

}  // namespace addnorm
