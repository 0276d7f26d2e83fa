// The library's version, as cmake's project() states it.
#pragma once

namespace addnorm {

const char* version();  ///< "0.1.0"

}  // namespace addnorm
