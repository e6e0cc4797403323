// leased_buffer.cpp: the end of a lease.
// SPDX-License-Identifier: MIT
#include <tandem/io/leased_buffer.hpp>

#include "ring/receive_buffers.hpp"

namespace tandem::inline v0::io {

void leased_buffer::give_back() noexcept { owner_->give_back(index_); }

}  // namespace tandem::inline v0::io
