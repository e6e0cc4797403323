// completion_pool.hpp: the threads that wait for I/O, each with a ring of its own.
// SPDX-License-Identifier: MIT
//
// A service of a runtime: made by install(), or with defaults by the first I/O call. Tasks may live on
// it: on one thread (confined, never moved) or on any of them. Protocols I1-I8: io/README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tandem/executor.hpp>
#include <tandem/io/export.hpp>
#include <tandem/runtime.hpp>

namespace tandem::inline v0::io {

/// How the completion pool is set up.
class TANDEM_IO_API completion_options {
 public:
  /// Reads TANDEM_IO_THREADS. @throws std::invalid_argument if it is no whole number of at least 1
  completion_options();

  /// Default: a quarter of the usable CPUs, at least 1.
  unsigned min_threads;
  /// Submission entries of each ring; the completion side has 16 times as many.
  unsigned ring_entries = 256;
};

/// Counts at about one moment.
class completion_pool_stats {
 public:
  completion_pool_stats() noexcept = default;

  unsigned threads = 0;
  std::uint64_t submitted = 0;  ///< operations handed to a ring
  std::uint64_t completed = 0;
  std::uint64_t batches = 0;      ///< reaps that brought at least one completion
  std::uint64_t handed_over = 0;  ///< posts of whole batches to other executors
  std::uint64_t wakes = 0;        ///< wakes of a sleeping completion thread
  std::uint64_t items = 0;        ///< jobs run
  std::uint64_t in_flight = 0;
};

/// One thread of the pool.
class TANDEM_IO_API completion_thread {
 public:
  /// Runs jobs on this very thread: what lives here needs no locks against each other.
  tandem::executor& executor() noexcept;
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

/// @thread_safety  all members from any thread
class TANDEM_IO_API completion_pool final : public service {
 public:
  /// Use install(). @throws std::system_error naming cause and cure if rings are refused
  completion_pool(runtime& owner, const completion_options& options = completion_options());
  ~completion_pool() override;

  /// Runs jobs on any completion thread: the calling one if it is one, else in turn.
  tandem::executor& executor() noexcept;
  unsigned size() const noexcept;
  completion_thread& thread(unsigned index) noexcept;
  completion_pool_stats stats() const noexcept;

  std::string_view service_name() const noexcept override;
  void stop() noexcept override;

  // Implementation
  class impl;
  /// Where the next connection is bound: in turn.
  completion_thread& next_thread() noexcept;

 private:
  std::unique_ptr<impl> impl_;
};

/// The pool of the current task's runtime, made with defaults if there is none.
///
/// @throws  std::logic_error naming `what` outside any task; std::system_error if rings are refused
TANDEM_IO_API completion_pool& current_completion_pool(const char* what);

/// Index of the calling completion thread within its pool; -1 on any other thread.
TANDEM_IO_API int current_completion_index() noexcept;

}  // namespace tandem::inline v0::io
