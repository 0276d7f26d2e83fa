#include "addnorm/core/version.h"

namespace addnorm {

const char* version() { return ADDNORM_VERSION; }

}  // namespace addnorm
