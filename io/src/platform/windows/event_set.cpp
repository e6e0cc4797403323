// event_set.cpp: there is none on Windows, so tasks on workers go through completion threads.
// SPDX-License-Identifier: MIT
//
// AFD tells of each readiness once and only when asked anew, and not before what is there has been
// taken: no edges. The constructor refuses, and the pool then has no `direct` port
// (pool/completion_pool.cpp, open_port).
#include "platform/event_set.hpp"

#include <system_error>

namespace tandem::inline v0::io::platform {

event_set::event_set() : process_(0) {
  throw std::system_error(std::make_error_code(std::errc::function_not_supported),
                          "tandem::io: no set of events on Windows");
}
event_set::~event_set() { close(); }

// Nobody can have one.
bool event_set::add(native_descriptor, void*, bool, bool) noexcept { return false; }
bool event_set::change(native_descriptor, void*, bool, bool) noexcept { return false; }
void event_set::remove(native_descriptor) noexcept {}
bool event_set::is_own() const noexcept { return process_ == 0; }
std::size_t event_set::wait(events&, std::int64_t) noexcept { return 0; }
void event_set::wake() noexcept {}
void event_set::close() noexcept { set_ = event_ = -1; }

}  // namespace tandem::inline v0::io::platform
