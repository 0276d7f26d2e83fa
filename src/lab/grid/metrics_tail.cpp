#include "lab/grid/files.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/file.h"
#include "core/json/json.h"
#include "core/system/files.h"

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
  const FileHandle in(system_files::open_for_reading(file_));
  const auto status = in.fd() >= 0 ? system_files::status(in.fd()) : std::nullopt;
  if (!status || status->bytes == read_to_) return false;
  if (status->bytes < read_to_) return read_anew(), true;
  std::string fresh(static_cast<std::size_t>(status->bytes - read_to_), '\0');
  const std::ptrdiff_t got = system_files::read_at(in.fd(), read_to_, fresh.data(), fresh.size());
  fresh.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
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
