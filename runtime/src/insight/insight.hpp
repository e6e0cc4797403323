// insight.hpp: looks at the tasks of one runtime.
// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <string>

#include <tandem/dump.hpp>
#include <tandem/runtime.hpp>

#include "insight/code_names.hpp"
#include "insight/look_memory.hpp"
#include "insight/snapshot.hpp"

namespace tandem::inline v0::detail {

/// Any thread. One look at a time.
class insight {
 public:
  explicit insight(tandem::runtime& owner) noexcept : owner_(owner) {}

  /// @throws  std::bad_alloc
  std::string dump(const dump_options& options);

 private:
  snapshot look(std::size_t most_frames, bool groups);

  tandem::runtime& owner_;
  std::mutex lock_;
  // Under lock_.
  look_memory memory_;
  code_names names_;
};

}  // namespace tandem::inline v0::detail
