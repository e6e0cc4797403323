// backend.hpp: THE contract between a completion thread and the operating system.
// SPDX-License-Identifier: MIT
//
// One backend belongs to one completion thread. Unless said otherwise its members are called by
// that thread alone; it is made there, too (a ring may be bound to the thread that sets it up).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string_view>
#include <system_error>
#include <tandem/io/completion_options.hpp>
#include <tandem/io/detail/file_action.hpp>
#include <tandem/io/detail/operation.hpp>

#include "backend/multishot_source.hpp"

namespace tandem::inline v0::io {

namespace detail {
class receive_buffers;
}
namespace platform {
class file_port;
}

enum class submit_answer : std::uint8_t {
  pending,           ///< a completion will come, exactly one
  completed_inline,  ///< operation::complete was called; no completion will come
};

class backend {
 public:
  /// Called for each completed operation, after operation::complete; may submit further ones.
  using completion_function = void (*)(void* context, detail::operation& ended) noexcept;

  backend() noexcept = default;
  backend(const backend&) = delete;
  backend& operator=(const backend&) = delete;
  virtual ~backend();

  /// For people: "io_uring", "asio", "iocp".
  virtual std::string_view name() const noexcept = 0;
  /// Which operations on files may be submitted; all others go through blocking(). Any thread.
  virtual detail::file_action_set file_actions() const noexcept { return {}; }
  /// Whether it can send without a copy (send_zero_copy). Any thread.
  virtual bool lends_memory() const noexcept { return false; }
  /// Where it takes none: null, or the port by which the backend of a pool's first thread takes
  /// transfers of files that have joined it. Any thread.
  virtual const platform::file_port* port_of_files() const noexcept { return nullptr; }

  /// pre: operation.state is idle. post: submitted, or completed if the answer says so. Buffer,
  /// descriptor and the operation itself stay alive until the completion.
  virtual submit_answer submit(detail::operation& operation) noexcept = 0;

  /// pre: submitted and not completed. Asks the kernel to end it early; its completion still comes.
  virtual void cancel(detail::operation& operation) noexcept = 0;

  /// Who waits to read from that socket tries again soon: it was shut down here, which this system
  /// tells nobody. It may be another socket by now, or none that anybody waits for.
  virtual void look_again(native_descriptor /*socket*/) noexcept {}

  /// Asks for the early end of all that was submitted; sources that are armed may end, too. What
  /// cannot be ended goes on. Their completions still come.
  virtual void cancel_all() noexcept = 0;

  /// From now on buffers come from `buffers`; the backend has none of them yet. Once, before arm().
  virtual void use_buffers(detail::receive_buffers& buffers) noexcept = 0;
  /// A buffer is the backend's, or is so again.
  virtual void provide_buffer(std::uint32_t index) noexcept = 0;
  /// pre: not armed. post: received() will be called, at last with `armed` false.
  /// @returns  false if there is no memory: then nothing was armed
  virtual bool arm(multishot_source& source) noexcept = 0;
  /// pre: armed. Asks for the end; it still comes.
  virtual void disarm(multishot_source& source) noexcept = 0;

  /// Hands over what was submitted, then waits for a completion, a wake() or the deadline.
  /// time_point::min(): does not wait.
  virtual void wait(std::chrono::steady_clock::time_point deadline) noexcept = 0;

  /// Takes the completions that are there. @returns how many operations have ended
  virtual unsigned reap(completion_function ended, void* context) noexcept = 0;

  /// Any thread. Ends a wait() that has begun or the next one.
  virtual void wake() noexcept = 0;
};

/// pre: on the thread that will use it; options.backend is not automatic.
/// @throws  std::system_error with cause and cure
std::unique_ptr<backend> make_backend(const completion_options& options);

/// The one that is tried first where nobody has chosen.
io_backend first_backend() noexcept;

/// Whether this build of the library has it.
bool has_backend(io_backend kind) noexcept;

/// Whether set-up failed because the host does not let us have rings: the kernel is too old, or
/// somebody forbids them, or memory may not be locked. Any other failure would meet another
/// backend, too.
bool is_refusal(const std::error_code& error) noexcept;

/// Says, once in a process, that Asio takes the place of what was refused.
void say_refused(const std::system_error& refused) noexcept;

namespace detail {
/// TANDEM_IO_BACKEND. @throws  std::invalid_argument naming the choices
io_backend backend_from_environment();
}  // namespace detail

// One for each room of a backend, with the room's name.
std::unique_ptr<backend> make_uring_backend(const completion_options& options);
std::unique_ptr<backend> make_asio_backend(const completion_options& options);
std::unique_ptr<backend> make_iocp_backend(const completion_options& options);

}  // namespace tandem::inline v0::io
