// The rows of the catalogue, as catalogue.cpp lists them.
#pragma once

#include <vector>

#include "addnorm/residual/arrangement.h"

namespace addnorm {

const std::vector<Arrangement>& catalogue_rows();

}  // namespace addnorm
