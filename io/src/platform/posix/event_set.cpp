// event_set.cpp: none. What POSIX has, poll(), does without edges.
// SPDX-License-Identifier: MIT
//
// This is the one place that says so: the constructor refuses, so a completion pool has no port,
// and the workers leave the waiting for sockets to the completion threads (io/src/direct). By
// poll(), each wait would ask for all sockets, and each socket that has been told of would have to
// be taken out until its task has read it, and be put in again: more system calls than the port
// saves. kqueue (EV_CLEAR) could do it, in a folder for the systems that have it.
#include "platform/event_set.hpp"

#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace tandem::inline v0::io::platform {

event_set::event_set() : process_(::getpid()) {
  throw std::system_error(ENOTSUP, std::generic_category(),
                          "tandem::io: no set of events: POSIX has none that tells edges");
}
event_set::~event_set() = default;

// Of an object that there is not.
void event_set::close() noexcept {}
bool event_set::add(native_descriptor, void*, bool, bool) noexcept { return false; }
bool event_set::change(native_descriptor, void*, bool, bool) noexcept { return false; }
void event_set::remove(native_descriptor) noexcept {}
bool event_set::is_own() const noexcept { return ::getpid() == process_; }
std::size_t event_set::wait(events&, std::int64_t) noexcept { return 0; }
void event_set::wake() noexcept {}

}  // namespace tandem::inline v0::io::platform
