// pipe.cpp: making pipes, and taking over those of others.
// SPDX-License-Identifier: MIT
#include <tandem/io/pipe.hpp>

#include <array>
#include <string>
#include <system_error>
#include <tandem/io/completion_pool.hpp>

#include "net/checked.hpp"
#include "platform/pipes.hpp"

namespace tandem::inline v0::io {

namespace {

detail::socket adopt_end(completion_pool& pool, native_descriptor descriptor, bool reads,
                         const char* what) {
  if (const platform::refusal refused = platform::adopt_pipe(descriptor, reads)) {
    throw std::system_error(refused.error, std::string(what) + ": descriptor " +
                                               std::to_string(descriptor) + " " + refused.why);
  }
  return {descriptor, pool.next_thread()};
}

}  // namespace

pipe_reader pipe_reader::from_native(native_descriptor descriptor) {
  return from_native(current_completion_pool("pipe_reader::from_native"), descriptor);
}
pipe_reader pipe_reader::from_native(completion_pool& pool, native_descriptor descriptor) {
  return pipe_reader(adopt_end(pool, descriptor, true, "pipe_reader::from_native"));
}

pipe_writer pipe_writer::from_native(native_descriptor descriptor) {
  return from_native(current_completion_pool("pipe_writer::from_native"), descriptor);
}
pipe_writer pipe_writer::from_native(completion_pool& pool, native_descriptor descriptor) {
  return pipe_writer(adopt_end(pool, descriptor, false, "pipe_writer::from_native"));
}

std::pair<pipe_reader, pipe_writer> make_pipe() {
  return make_pipe(current_completion_pool("make_pipe"));
}
std::pair<pipe_reader, pipe_writer> make_pipe(completion_pool& pool) {
  const platform::pipe_modes neither_waits(false, false);
  const std::array<native_descriptor, 2> ends =
      checked(platform::make_pipe(neither_waits), "make_pipe");
  return {pipe_reader(detail::socket(ends[0], pool.next_thread())),
          pipe_writer(detail::socket(ends[1], pool.next_thread()))};
}

}  // namespace tandem::inline v0::io
