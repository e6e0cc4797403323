// backend.cpp: which backends there are, and which one is taken.
// SPDX-License-Identifier: MIT
#include "backend/backend.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

#include <tandem/detail/environment_options.hpp>

namespace tandem::inline v0::io {

namespace {

struct backend_entry {
  io_backend kind;
  std::unique_ptr<backend> (*make)(const completion_options&);
};

// The first one is what is tried where nobody has chosen.
constexpr std::array backends = {
#ifdef TANDEM_IO_HAS_URING
    backend_entry{io_backend::uring, &make_uring_backend},
#endif
#ifdef TANDEM_IO_HAS_IOCP
    backend_entry{io_backend::iocp, &make_iocp_backend},
#endif
#ifdef TANDEM_IO_HAS_ASIO
    backend_entry{io_backend::asio, &make_asio_backend},
#endif
};

const backend_entry* entry_of(io_backend kind) noexcept {
  for (const backend_entry& each : backends) {
    if (each.kind == kind) return &each;
  }
  return nullptr;
}

const char* why_missing(io_backend kind) noexcept {
  switch (kind) {
    case io_backend::iocp:
      return "tandem::io: this build of the library has no iocp backend, which is that of Windows";
    case io_backend::uring:
      return "tandem::io: this build of the library has no io_uring backend (it was configured for "
             "a system without: TANDEM_PLATFORM)";
    default:
      return "tandem::io: this build of the library has no Asio backend (it was configured with "
             "TANDEM_IO_ASIO=OFF)";
  }
}

}  // namespace

backend::~backend() = default;

io_backend detail::backend_from_environment() {
  const std::string_view wanted =
      tandem::detail::text_from_environment("TANDEM_IO_BACKEND", "automatic");
  if (wanted == "automatic") return io_backend::automatic;
  if (wanted == "uring") return io_backend::uring;
  if (wanted == "asio") return io_backend::asio;
  if (wanted == "iocp") return io_backend::iocp;
  throw std::invalid_argument("TANDEM_IO_BACKEND is \"" + std::string(wanted) +
                              "\": " + (has_backend(io_backend::iocp) ? "iocp" : "uring, asio") +
                              " or automatic is needed");
}

std::unique_ptr<backend> make_backend(const completion_options& options) {
  const backend_entry* const found = entry_of(options.backend);
  if (found == nullptr) {
    throw std::system_error(ENOTSUP, std::generic_category(), why_missing(options.backend));
  }
  return found->make(options);
}

io_backend first_backend() noexcept { return backends.front().kind; }

bool has_backend(io_backend kind) noexcept { return entry_of(kind) != nullptr; }

bool is_refusal(const std::error_code& error) noexcept {
  const int number = error.value();
  return number == ENOSYS || number == EPERM || number == EACCES || number == ENOMEM;
}

void say_refused(const std::system_error& refused) noexcept {
  static std::atomic<bool> said{false};
  if (said.exchange(true, std::memory_order_relaxed)) return;  // nothing hangs on the order
  std::fprintf(stderr,
               "%s. Asio takes its place, and I/O costs more; TANDEM_IO_BACKEND=asio chooses it "
               "without these words, TANDEM_IO_BACKEND=uring makes this an error.\n",
               refused.what());
}

}  // namespace tandem::inline v0::io
