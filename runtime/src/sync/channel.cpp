// channel.cpp: what is thrown at the end of a channel.
// SPDX-License-Identifier: MIT
#include <tandem/channel.hpp>

namespace tandem::inline v0 {

channel_closed::channel_closed() : std::system_error(errc::channel_closed) {}
channel_closed::~channel_closed() = default;

namespace detail {

void throw_channel_closed() { throw channel_closed(); }

}  // namespace detail
}  // namespace tandem::inline v0
