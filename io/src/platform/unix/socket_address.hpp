// socket_address.hpp: an endpoint as the operating system writes it.
// SPDX-License-Identifier: MIT
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <tandem/io/endpoint.hpp>

namespace tandem::inline v0::io::platform {
using address_length = socklen_t;
}

#include "platform/socket_address.ipp"
