#include <algorithm>

#include "addnorm/data/dataset.h"

namespace addnorm {

std::size_t Batch::counted() const { return labels.size() - static_cast<std::size_t>(std::ranges::count(labels, kIgnoredLabel)); }

}  // namespace addnorm
