/** One pass over a text that finds what begins with no literal: probes, views it asks for, and runs that may be encoded text. */
#pragma once
#include "growing.h"

namespace tackroom::scan {

struct Run {
  int64_t from, to;
};

/** Base64 runs of allowed length are added to `runs`. With `probes`, what they find is added there. `View` bits are returned. */
int mark_text(const uint8_t* b, int64_t from, int64_t to, Growing<Run>& runs, Growing<int32_t>* probes);

}  // namespace tackroom::scan
