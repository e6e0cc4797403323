// trace_sink.hpp: where the text of a trace goes, piece by piece.
// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace tandem::inline v0::detail {

class trace_sink {
 public:
  trace_sink() noexcept = default;
  trace_sink(const trace_sink&) = delete;
  trace_sink& operator=(const trace_sink&) = delete;
  /// May throw.
  virtual void write(std::string_view text) = 0;

 protected:
  ~trace_sink() = default;
};

}  // namespace tandem::inline v0::detail
