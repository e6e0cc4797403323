// inherited_sockets.cpp: nobody passes sockets on to a program of Windows.
// SPDX-License-Identifier: MIT
#include <tandem/io/inherited_sockets.hpp>

namespace tandem::inline v0::io {

std::vector<inherited_socket> inherited_sockets() { return {}; }

}  // namespace tandem::inline v0::io
