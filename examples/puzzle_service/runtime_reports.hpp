// runtime_reports.hpp: what the tasks of the service wait for, told to many at the price of one.
// SPDX-License-Identifier: MIT
//
// A dump walks over all tasks, so it is made on a thread for blocking calls, where no connection
// waits for it, and by one at a time. Whoever comes meanwhile waits for the lock, and gets what the
// one before has made if that is young enough: so each kind is made four times a second at most,
// however many ask.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <tandem/mutex.hpp>
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
  /// @throws         operation_cancelled; std::bad_alloc
  /// @cancellation   leaves the others, who go on
  tandem::task<text> get(report_kind wanted);

 private:
  class made {
   public:
    text what;
    std::chrono::steady_clock::time_point at;
  };

  std::string make(report_kind wanted) const;

  const tandem::runtime& about_;
  tandem::mutex making_;
  std::array<made, 3> last_;  // by kind; under the lock
};

}  // namespace service
