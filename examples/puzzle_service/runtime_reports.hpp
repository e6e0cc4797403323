// runtime_reports.hpp: what the tasks of the service wait for, told to many at the price of one.
// SPDX-License-Identifier: MIT
//
// A dump walks over all tasks, so it is made on a thread for blocking calls, where no connection
// waits for it, and of each kind one at a time. Whoever comes meanwhile gets the same one, as does
// who comes within a quarter of a second after it: so each kind is made four times a second at
// most, however many ask. They wait for an event rather than for a lock: a lock that is held for
// long is what the advice is about.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include <tandem/event.hpp>
#include <tandem/runtime.hpp>
#include <tandem/task.hpp>

namespace service {

enum class report_kind : std::uint8_t {
  tasks_json,
  tasks_text,
  advice,  ///< JSON
};

/// @thread_safety  any task
class runtime_reports {
 public:
  using text = std::shared_ptr<const std::string>;

  explicit runtime_reports(const tandem::runtime& about) noexcept : about_(about) {}

  /// One that is at most a quarter of a second old.
  ///
  /// @throws         operation_cancelled; std::bad_alloc, and what else making one throws
  /// @cancellation   the others go on: if it was the one that made it, another one does
  tandem::task<text> get(report_kind wanted);

 private:
  class slot {
   public:
    text last;
    std::chrono::steady_clock::time_point made_at;
    std::shared_ptr<tandem::event> ends;  ///< set when the one that is being made is; null: none is
  };
  class turn;

  std::string make(report_kind wanted) const;

  const tandem::runtime& about_;
  std::mutex lock_;              // never held across an await
  std::array<slot, 3> reports_;  // by kind; under the lock
};

}  // namespace service
