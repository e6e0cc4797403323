// thread_options.hpp: who makes the threads of a pool, where they run, and what they do first and last.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

/// Where workers run.
enum class cpu_placement : std::uint8_t {
  anywhere,  ///< as the system likes
  within,    ///< each on any of `cpus`
  one_each   ///< worker i on cpus[i modulo their number] alone
};

/// The name of the enumerator.
TANDEM_API const char* to_string(cpu_placement placement) noexcept;

/// The member `threads` of pool_options. A worker has a number, the lowest one that is free, and
/// its thread the name NAME-NUMBER ("tandem-3"; the kernel keeps 15 characters of it).
///
/// There is no handler here for what nobody catches: nothing is thrown out of a worker. What a task
/// throws belongs to its handle; once that was let go, to runtime_options::on_unhandled_exception,
/// which is called on the thread on which the task has failed, or on the one that lets go of the
/// handle later.
///
///     tandem::runtime_options options;
///     options.threads.placement = tandem::cpu_placement::one_each;
///     options.threads.cpus = {2, 3};
///     options.threads.on_start = [](unsigned worker) { profiler::attach(worker); };
///     options.threads.on_exit = [](unsigned worker) { profiler::detach(worker); };
class TANDEM_API thread_options {
 public:
  /// Called with the number of a worker, on its thread. What it throws goes to
  /// runtime_options::on_suppressed_exception, and the worker goes on.
  using hook = std::function<void(unsigned worker)>;
  /// Returns a thread that runs `body`, which returns when the worker ends. One that throws, or
  /// returns a thread that is not joinable, has failed: then `body` does nothing, wherever it is
  /// run.
  using factory_function =
      std::function<std::thread(std::function<void()> body, const std::string& name)>;

  thread_options();

  /// Before the worker's first item.
  hook on_start;
  /// After its last one: it retires, or the pool ends. It must not wait for anything of the
  /// runtime.
  hook on_exit;
  cpu_placement placement = cpu_placement::anywhere;
  /// CPU numbers as the system counts them, each one that the process may use. Needed by `within`
  /// and `one_each`. If the system refuses one of them later, on_suppressed_exception hears of it,
  /// and the worker runs where it can.
  std::vector<unsigned> cpus;
  /// Makes the threads of workers; default: the pool does. It is called while the pool is locked:
  /// it must neither use the pool nor wait for one of its tasks. Asynchronous signals are blocked
  /// while it runs, so that its threads have them blocked, too. When it fails the pool goes on with
  /// the threads that it has and asks again when it next needs one, not within 10 ms; when it has
  /// none it makes one itself, so that work never hangs.
  factory_function factory;

  /// @throws  std::invalid_argument naming the option and what it may be
  void validate() const;
};

}  // namespace tandem::inline v0
