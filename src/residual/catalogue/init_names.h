// What initialisations are called: bases in files and messages, matrices in text.
#pragma once

#include <string>
#include <vector>

#include "addnorm/residual/init_spec.h"

namespace addnorm {

/// In the order of the enum.
inline const std::vector<std::string>& names(InitSpec::Base) {
  static const std::vector<std::string> all{"xavier_uniform", "xavier_normal", "normal",
                                            "fan_in_uniform", "fan_in_normal", "small_normal"};
  return all;
}

/// A matrix as it is usually written: "W_o", "embeddings".
const char* symbol_of(Role matrix);
/// "W_v, W_o, W_1, W_2", in the order of a layer. The gate goes with W_1 and learned positions with embeddings, where these are
/// named too.
std::string symbols_of(const std::vector<Role>& matrices);

}  // namespace addnorm
