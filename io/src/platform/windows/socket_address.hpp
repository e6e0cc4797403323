// socket_address.hpp: an endpoint as Windows writes it.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <tandem/io/endpoint.hpp>

#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::platform {
using address_length = int;
}

#include "platform/socket_address.ipp"
