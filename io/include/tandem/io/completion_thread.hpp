// completion_thread.hpp: one thread of the completion pool, as a place for tasks.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <tandem/executor.hpp>
#include <tandem/io/export.hpp>

namespace tandem::inline v0::io {

/// One thread of the pool.
class TANDEM_IO_API completion_thread {
 public:
  /// Runs jobs on this very thread: what lives here needs no locks against each other.
  tandem::executor& executor() noexcept;
  /// Its number in the pool, from 0.
  unsigned index() const noexcept;

  // Implementation
  class impl;
  explicit completion_thread(std::unique_ptr<impl> made) noexcept;
  ~completion_thread();
  completion_thread(const completion_thread&) = delete;
  completion_thread& operator=(const completion_thread&) = delete;
  impl& implementation() noexcept { return *impl_; }

 private:
  std::unique_ptr<impl> impl_;
};

}  // namespace tandem::inline v0::io
