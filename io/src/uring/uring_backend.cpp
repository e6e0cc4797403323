// uring_backend.cpp: the io_uring backend, through liburing.
// SPDX-License-Identifier: MIT
//
// One ring a thread, made on that thread. Probed, never assumed: SINGLE_ISSUER with DEFER_TASKRUN
// (completions are then delivered only when the owner asks, in batches), else plainer rings. A wake
// writes to an eventfd that a poll in the ring watches. user_data: an operation's address, or one of
// the marks below.
#include <liburing.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <system_error>

#include "../backend.hpp"
#include "../socket_address.hpp"

namespace tandem::inline v0::io {

backend::~backend() = default;

namespace {

constexpr std::uint64_t wake_mark = 1;
constexpr std::uint64_t ignore_mark = 2;

[[noreturn]] void set_up_failed(const char* tried, int error) {
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

/// What the kernel moves at most at once; an entry holds 32 bits. A shorter transfer is no error.
std::size_t transfer_bytes(const detail::operation& operation) noexcept {
  return std::min<std::size_t>(operation.bytes(), 0x7ffff000);
}

class uring_backend final : public backend {
 public:
  explicit uring_backend(const completion_options& options) {
    event_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event_ < 0) set_up_failed("eventfd", errno);
    set_up_ring(options.ring_entries);
    // A saving where the kernel has it; without it everything works the same.
    (void)io_uring_register_ring_fd(&ring_);
    arm_wake();
  }
  ~uring_backend() override {
    io_uring_queue_exit(&ring_);
    ::close(event_);
  }

  submit_answer submit(detail::operation& operation) noexcept override {
    io_uring_sqe* const sqe = next_entry();
    const int descriptor = operation.descriptor();
    switch (operation.kind()) {
      case detail::operation_kind::accept:
        io_uring_prep_accept(sqe, descriptor, nullptr, nullptr, SOCK_CLOEXEC);
        break;
      case detail::operation_kind::connect: {
        static_assert(sizeof(socket_address) <= detail::operation::backend_bytes);
        const auto* const address =
            ::new (operation.backend_room()) socket_address(operation.peer());
        io_uring_prep_connect(sqe, descriptor, address->data(), address->size());
        break;
      }
      case detail::operation_kind::receive:
        io_uring_prep_recv(sqe, descriptor, operation.buffer(), transfer_bytes(operation), 0);
        break;
      case detail::operation_kind::send:
      case detail::operation_kind::send_all:
        io_uring_prep_send(sqe, descriptor, operation.buffer(), transfer_bytes(operation),
                           MSG_NOSIGNAL);
        break;
      case detail::operation_kind::read_file:
        io_uring_prep_read(sqe, descriptor, operation.buffer(),
                           static_cast<unsigned>(operation.bytes()), 0);
        break;
    }
    io_uring_sqe_set_data(sqe, &operation);
    operation.state = detail::operation::phase::submitted;
    return submit_answer::pending;
  }

  void cancel(detail::operation& operation) noexcept override {
    // Entries are handled in order, so this cannot hit a later operation at the same address.
    io_uring_sqe* const sqe = next_entry();
    io_uring_prep_cancel(sqe, &operation, 0);
    io_uring_sqe_set_data64(sqe, ignore_mark);
  }

  void wait(std::chrono::steady_clock::time_point deadline) noexcept override {
    using clock = std::chrono::steady_clock;
    if (deadline == clock::time_point::min() || io_uring_cq_ready(&ring_) != 0) {
      check_wait(io_uring_submit_and_get_events(&ring_));
      return;
    }
    io_uring_cqe* first = nullptr;
    if (deadline == clock::time_point::max()) {
      check_wait(io_uring_submit_and_wait(&ring_, 1));
      return;
    }
    const auto now = clock::now();
    const std::int64_t ns =
        deadline <= now
            ? 0
            : std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - now).count();
    __kernel_timespec limit{ns / 1'000'000'000, ns % 1'000'000'000};
    check_wait(io_uring_submit_and_wait_timeout(&ring_, &first, 1, &limit, nullptr));
  }

  unsigned reap(completion_function ended, void* context) noexcept override {
    unsigned operations = 0;
    std::array<io_uring_cqe*, 64> batch;
    while (const unsigned count =
               io_uring_peek_batch_cqe(&ring_, batch.data(), static_cast<unsigned>(batch.size()))) {
      for (unsigned i = 0; i < count; ++i) {
        const io_uring_cqe cqe = *batch[i];
        if (cqe.user_data == ignore_mark) continue;
        if (cqe.user_data == wake_mark) {
          drain_event();
          if ((cqe.flags & IORING_CQE_F_MORE) == 0) arm_wake();
          continue;
        }
        auto* const operation =
            reinterpret_cast<detail::operation*>(cqe.user_data);  // NOLINT: it was put in as one
        operation->complete(cqe.res);
        ++operations;
        ended(context, *operation);
      }
      io_uring_cq_advance(&ring_, count);
    }
    return operations;
  }

  void wake() noexcept override {
    const std::uint64_t one = 1;
    // Only EAGAIN can come, when the counter is full: then a wake is pending already.
    (void)!::write(event_, &one, sizeof one);
  }

 private:
  void set_up_ring(unsigned entries) {
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
      error = -io_uring_queue_init_params(entries, &ring_, &parameters);
      if (error == 0) {
        // Waiting with a deadline needs it; it is older (5.11) than everything else we use.
        if ((parameters.features & IORING_FEAT_EXT_ARG) != 0) return;
        io_uring_queue_exit(&ring_);
        error = ENOSYS;
      }
      if (error != EINVAL) break;
    }
    ::close(event_);
    set_up_failed("io_uring_setup", error);
  }

  /// A ring that refuses to work would otherwise spin in silence.
  static void check_wait(int answer) noexcept {
    TANDEM_ASSERT(answer >= 0 || answer == -ETIME || answer == -EINTR || answer == -EAGAIN ||
                      answer == -EBUSY,
                  "io_uring_enter failed on a ring that was set up: see strace for its error");
  }

  io_uring_sqe* next_entry() noexcept {
    io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
    while (sqe == nullptr) {
      // Full: the kernel takes what is there. EBUSY means that completions have to be made room for.
      if (io_uring_submit(&ring_) == -EBUSY) io_uring_get_events(&ring_);
      sqe = io_uring_get_sqe(&ring_);
    }
    return sqe;
  }

  void arm_wake() noexcept {
    io_uring_sqe* const sqe = next_entry();
    io_uring_prep_poll_multishot(sqe, event_, POLLIN);
    io_uring_sqe_set_data64(sqe, wake_mark);
  }

  void drain_event() noexcept {
    std::uint64_t count = 0;
    (void)!::read(event_, &count, sizeof count);
  }

  io_uring ring_{};
  int event_ = -1;
};

}  // namespace

std::unique_ptr<backend> make_backend(const completion_options& options) {
  return std::make_unique<uring_backend>(options);
}

}  // namespace tandem::inline v0::io
