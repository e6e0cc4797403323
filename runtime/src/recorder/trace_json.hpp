// trace_json.hpp: what happened, as tracks, spans and flows of a trace file.
// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "recorder/trace_sink.hpp"
#include "recorder/trace_story.hpp"

namespace tandem::inline v0::detail {

/// @param story  in order. @throws what the sink throws; std::bad_alloc
void write_trace_json(const trace_story& story, std::string_view process, trace_sink& into);

}  // namespace tandem::inline v0::detail
