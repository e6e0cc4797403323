// refused_buffers.hpp: a kernel that refuses to register buffers, and counts how often it is asked.
// SPDX-License-Identifier: MIT
#pragma once

namespace tandem::test {

/// As long as it lives, this fails; what it interposes serves the whole executable.
class refused_buffers {
 public:
  enum class step { table, buffer };

  refused_buffers(step which, int error) noexcept;
  refused_buffers(const refused_buffers&) = delete;
  refused_buffers& operator=(const refused_buffers&) = delete;
  ~refused_buffers();
};

/// Since the program began: how often rings asked for a table, and for a buffer in it.
int tables_asked_for() noexcept;
int buffers_asked_for() noexcept;

}  // namespace tandem::test
