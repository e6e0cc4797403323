// ring_set_up.cpp: which rings are tried, and what a refusal means.
// SPDX-License-Identifier: MIT
#include "uring/ring_set_up.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <string>
#include <system_error>

#include "uring/file_entry.hpp"

namespace tandem::inline v0::io {

int set_up_ring(io_uring& ring, unsigned entries) noexcept {
  constexpr unsigned variants[] = {
      IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
      IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN,
      IORING_SETUP_COOP_TASKRUN,
      0U,
  };
  int error = 0;
  for (const unsigned flags : variants) {
    io_uring_params parameters{};
    parameters.flags = flags | IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP;
    parameters.cq_entries = entries * 16;
    error = -io_uring_queue_init_params(entries, &ring, &parameters);
    if (error == 0) {
      // Waiting with a deadline needs it; it is older (5.11) than everything else we use.
      if ((parameters.features & IORING_FEAT_EXT_ARG) != 0) return 0;
      io_uring_queue_exit(&ring);
      error = ENOSYS;
    }
    if (error != EINVAL) break;
  }
  return error;
}

detail::file_action_set file_actions_of(io_uring& ring) noexcept {
  constexpr unsigned most = 256;
  // The kernel's struct ends with a list of no size; it wants room for it, all zeros.
  alignas(io_uring_probe)
      std::array<std::byte, sizeof(io_uring_probe) + most * sizeof(io_uring_probe_op)>
          room{};
  auto* const answer = reinterpret_cast<io_uring_probe*>(room.data());  // NOLINT
  detail::file_action_set made;
  if (io_uring_register_probe(&ring, answer, most) != 0) return made;
  for (const detail::file_row& row : detail::file_rows) {
    if (row.is_for_blocking) continue;
    const int opcode = opcode_of(row.action);
    if (opcode <= answer->last_op && (answer->ops[opcode].flags & IO_URING_OP_SUPPORTED) != 0) {
      made.add(row.action);
    }
  }
  return made;
}

void set_up_failed(const char* tried, int error) {
  std::string text = "tandem::io: " + std::string(tried) + " was refused: ";
  switch (error) {
    case ENOSYS:
      text +=
          "the kernel has no io_uring, or a seccomp profile hides it. Linux 5.19 or newer is "
          "needed; in a container allow the io_uring_* system calls";
      break;
    case EPERM:
    case EACCES:
      text +=
          "io_uring is not permitted here. Set sysctl kernel.io_uring_disabled to 0, or allow "
          "the io_uring_* system calls in the container's seccomp profile";
      break;
    case ENOMEM:
      text +=
          "no memory could be locked for the ring. Raise RLIMIT_MEMLOCK (ulimit -l) or the "
          "memory limit of the control group";
      break;
    case EMFILE:
    case ENFILE:
      text += "no file descriptor is left. Raise RLIMIT_NOFILE (ulimit -n) or close some";
      break;
    default: text += "see the error code";
  }
  throw std::system_error(error, std::generic_category(), text);
}

}  // namespace tandem::inline v0::io
