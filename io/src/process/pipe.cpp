// pipe.cpp: making pipes, and taking over those of others.
// SPDX-License-Identifier: MIT
#include <tandem/io/pipe.hpp>

#include <array>
#include <string>
#include <system_error>
#include <tandem/io/completion_pool.hpp>

#include "engine/completion_thread.hpp"
#include "net/checked.hpp"
#include "platform/descriptor.hpp"
#include "platform/files.hpp"
#include "platform/pipes.hpp"
#include "process/pipe_end.hpp"

namespace tandem::inline v0::io {

detail::socket serve_pipe(completion_pool& pool, native_descriptor descriptor,
                          std::error_code& error) noexcept {
  completion_thread& first = pool.thread(0);
  const platform::file_port* const port = first.implementation().port_of_files();
  if (port == nullptr) return {descriptor, pool.next_thread()};
  error = platform::join_port(descriptor, *port);
  if (error) return {};
  return {descriptor, first};
}

native_descriptor pipe_end::release() noexcept {
  const native_descriptor given = end_.release();
  if (detail::is_descriptor(given)) platform::leave_port(given);
  return given;
}

namespace {

detail::socket adopt_end(completion_pool& pool, native_descriptor descriptor, bool reads,
                         const char* what) {
  if (const platform::refusal refused = platform::adopt_pipe(descriptor, reads)) {
    throw std::system_error(refused.error, std::string(what) + ": descriptor " +
                                               std::to_string(descriptor) + " " + refused.why);
  }
  std::error_code error;
  detail::socket made = serve_pipe(pool, descriptor, error);
  if (error) {
    throw std::system_error(error, std::string(what) + ": descriptor " +
                                       std::to_string(descriptor) + ": " +
                                       std::string(platform::cure_of(error)));
  }
  return made;
}

[[noreturn]] void throw_transfer_failure(const detail::operation& failed,
                                         const detail::socket& end) {
  std::string what = failed.name();
  if (!end.is_open()) {
    what += failed.kind() == detail::operation_kind::read_pipe
                ? ": the pipe is not open (a process's: process_options::standard_output, or "
                  "standard_error, was not process_stdio::pipe())"
                : ": the pipe is not open (a process's: process_options::standard_input was not "
                  "process_stdio::pipe())";
  }
  failed.throw_failure(what.c_str());
}

/// One of a new pipe.
detail::socket new_end(completion_pool& pool, owned_descriptor made) {
  std::error_code error;
  detail::socket end = serve_pipe(pool, made.native_handle(), error);
  check(error, "make_pipe");
  (void)made.release();
  return end;
}

}  // namespace

std::size_t pipe_transfer_awaiter::await_resume() {
  end_operation();
  if (operation_.failed()) throw_transfer_failure(operation_, *socket_);
  return static_cast<std::size_t>(operation_.outcome());
}

void pipe_write_all_awaiter::await_resume() {
  end_operation();
  if (operation_.failed()) throw_transfer_failure(operation_, *socket_);
}

pipe_reader pipe_reader::from_native(native_descriptor descriptor) {
  return from_native(default_completion_pool("pipe_reader::from_native"), descriptor);
}
pipe_reader pipe_reader::from_native(completion_pool& pool, native_descriptor descriptor) {
  return pipe_reader(adopt_end(pool, descriptor, true, "pipe_reader::from_native"));
}

pipe_writer pipe_writer::from_native(native_descriptor descriptor) {
  return from_native(default_completion_pool("pipe_writer::from_native"), descriptor);
}
pipe_writer pipe_writer::from_native(completion_pool& pool, native_descriptor descriptor) {
  return pipe_writer(adopt_end(pool, descriptor, false, "pipe_writer::from_native"));
}

std::pair<pipe_reader, pipe_writer> make_pipe() {
  return make_pipe(default_completion_pool("make_pipe"));
}
std::pair<pipe_reader, pipe_writer> make_pipe(completion_pool& pool) {
  const platform::pipe_modes neither_waits(false, false);
  const std::array<native_descriptor, 2> ends =
      checked(platform::make_pipe(neither_waits), "make_pipe");
  owned_descriptor reads(ends[0]);
  owned_descriptor writes(ends[1]);
  pipe_reader reader(new_end(pool, std::move(reads)));
  return {std::move(reader), pipe_writer(new_end(pool, std::move(writes)))};
}

}  // namespace tandem::inline v0::io
