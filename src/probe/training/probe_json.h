// A record of probes as a Json value; as text it is a line of probes.jsonl: record.h.
#pragma once

#include "addnorm/probe/record.h"
#include "core/json/json.h"

namespace addnorm {

Json json_of(const ProbeRecord& record);

}  // namespace addnorm
