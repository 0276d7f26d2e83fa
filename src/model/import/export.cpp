// The same files again, from the model as it is now.
#include "core/file.h"
#include "model/import/fill.h"
#include "model/import/layout.h"

namespace addnorm {

void export_model(const ImportedModel& imported, const std::filesystem::path& folder) {
  static_cast<void>(imported);
  refuse("export_model: ", folder.string(), ": not there yet");
}

}  // namespace addnorm
