// shared_streams.cpp: opening what others use too, and how its awaits end.
// SPDX-License-Identifier: MIT
#include <tandem/io/shared_streams.hpp>

#include <string>
#include <system_error>

#include "net/checked.hpp"
#include "platform/shared_streams.hpp"

namespace tandem::inline v0::io {

namespace {

detail::shared_stream open(completion_pool& pool, native_descriptor given, bool reads,
                           const char* what) {
  std::string name = "descriptor " + std::to_string(given);  // before there is something to be lost
  const platform::shared_descriptor made = checked(platform::open_shared(given, reads), what);
  if (made.is_file) {
    detail::file_handle file(made.descriptor, std::move(name), false);
    file.joined_port().store(made.kind, std::memory_order_relaxed);  // nobody else has it yet
    return detail::shared_stream(std::move(file));
  }
  return detail::shared_stream(detail::socket(made.descriptor, pool.next_thread()));
}

native_descriptor standard(int which, const char* what) {
  return checked(platform::standard_descriptor(which), what);
}

}  // namespace

shared_input shared_input::of(native_descriptor descriptor) {
  return of(default_completion_pool("shared_input::of"), descriptor);
}
shared_input shared_input::of(completion_pool& pool, native_descriptor descriptor) {
  return shared_input(open(pool, descriptor, true, "shared_input::of"));
}
shared_output shared_output::of(native_descriptor descriptor) {
  return of(default_completion_pool("shared_output::of"), descriptor);
}
shared_output shared_output::of(completion_pool& pool, native_descriptor descriptor) {
  return shared_output(open(pool, descriptor, false, "shared_output::of"));
}

shared_input standard_input() { return shared_input::of(standard(0, "standard_input")); }
shared_output standard_output() { return shared_output::of(standard(1, "standard_output")); }
shared_output standard_error() { return shared_output::of(standard(2, "standard_error")); }

std::size_t shared_transfer_awaiter::await_resume() {
  if (auto* const file = std::get_if<file_transfer_awaiter>(&way_)) return file->await_resume();
  const detail::operation& ended = std::get<detail::shared_wait>(way_).end();
  if (ended.failed()) ended.throw_failure(ended.name());
  return static_cast<std::size_t>(ended.outcome());
}

result<std::size_t> shared_transfer_awaiter::await_resume_result() {
  if (auto* const file = std::get_if<file_transfer_awaiter>(&way_)) {
    return file->await_resume_result();
  }
  const detail::operation& ended = std::get<detail::shared_wait>(way_).end();
  if (ended.failed()) return ended.error();
  return static_cast<std::size_t>(ended.outcome());
}

void shared_write_all_awaiter::await_resume() {
  if (auto* const file = std::get_if<file_transfer_all_awaiter>(&way_)) return file->await_resume();
  const detail::operation& ended = std::get<detail::shared_wait>(way_).end();
  if (ended.failed()) ended.throw_failure(ended.name());
}

result<void> shared_write_all_awaiter::await_resume_result() {
  if (auto* const file = std::get_if<file_transfer_all_awaiter>(&way_)) {
    return file->await_resume_result();
  }
  const detail::operation& ended = std::get<detail::shared_wait>(way_).end();
  if (ended.failed()) return ended.error();
  return {};
}

}  // namespace tandem::inline v0::io
