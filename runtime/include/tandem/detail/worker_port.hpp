// worker_port.hpp: something else than its queues that an idle worker waits for: readiness of sockets.
// SPDX-License-Identifier: MIT
//
// A pool without work lets one of its workers wait in the port instead of on its signal, so that
// what comes there is run by the thread that has waited for it: no other thread is woken. Workers
// that are busy look into it now and then. Protocol ports: runtime/src/crew/README.md.
#pragma once

#include <cstdint>
#include <memory>
#include <tandem/config.hpp>
#include <tandem/executor.hpp>

namespace tandem::inline v0 {

class worker_pool;

namespace detail {

class TANDEM_API worker_port {
 public:
  worker_port() noexcept = default;
  worker_port(const worker_port&) = delete;
  worker_port& operator=(const worker_port&) = delete;
  virtual ~worker_port() = default;

  /// Whether anything can come. Any thread; a look.
  virtual bool is_used() const noexcept = 0;
  /// The right to wait and to take, of one thread at a time. Any thread.
  virtual bool try_enter() noexcept = 0;
  /// pre: entered. Until something has come, wake() is called, or that time by the steady clock;
  /// INT64_MIN: a look. @returns whether there is something to take
  virtual bool wait(std::int64_t until_ns) noexcept = 0;
  /// pre: entered. Gives the right back; then posts what has come to where it belongs.
  ///
  /// @param home  whose own jobs are in `for_home` instead
  virtual void leave(const executor& home, job_list& for_home) noexcept = 0;
  /// Ends the wait of whoever is in there, or else the next one. Any thread.
  virtual void wake() noexcept = 0;
};

/// From now on the workers wait in `port`; null: in none. They keep it until the pool's end, and
/// may be inside it until whoever made it has entered it for good.
///
/// pre: the pool has had none, or null; it is no change of one that is used
TANDEM_API void use_port(worker_pool& pool, std::shared_ptr<worker_port> port) noexcept;
/// Whether the pool has threads, which could wait in one.
TANDEM_API bool may_use_port(worker_pool& pool) noexcept;
/// ports/send. Where a worker is idle, it is woken to wait in the port; it may be on its way.
///
/// @returns  false if all that may be busy are
TANDEM_API bool send_to_port(worker_pool& pool) noexcept;

}  // namespace detail
}  // namespace tandem::inline v0
