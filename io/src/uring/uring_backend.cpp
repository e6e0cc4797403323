// uring_backend.cpp: the io_uring backend, through liburing.
// SPDX-License-Identifier: MIT
//
// One ring a thread, made on that thread (ring_set_up.cpp). A wake writes to an eventfd that a poll
// in the ring watches. user_data: an operation's address, or one of the marks below.
#include <liburing.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <new>

#include "backend/backend.hpp"
#include "platform/attempt.hpp"
#include "uring/buffer_table.hpp"
#include "uring/operation_entry.hpp"
#include "uring/ring_set_up.hpp"
#include "uring/ring_wait.hpp"
#include "uring/source_entries.hpp"

namespace tandem::inline v0::io {

namespace {

constexpr std::uint64_t wake_mark = 1;
constexpr std::uint64_t ignore_mark = 2;
constexpr std::uint64_t source_bit = 4;  // beside a multishot_source's address
static_assert(alignof(multishot_source) >= 8 && alignof(detail::operation) >= 8);

class uring_backend final : public backend {
 public:
  explicit uring_backend(const completion_options& options) {
    event_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event_ < 0) set_up_failed("eventfd", errno);
    if (const int error = set_up_ring(ring_, options.ring_entries); error != 0) {
      ::close(event_);
      set_up_failed("io_uring_setup", error);
    }
    // A saving where the kernel has it; without it everything works the same.
    const bool is_registered = io_uring_register_ring_fd(&ring_) == 1;
    wait_.set_up(ring_, is_registered);
    file_actions_ = file_actions_of(ring_);
    arm_wake();
  }
  ~uring_backend() override {
    buffers_.close();
    io_uring_queue_exit(&ring_);
    ::close(event_);
  }

  std::string_view name() const noexcept override { return "io_uring"; }
  detail::file_action_set file_actions() const noexcept override { return file_actions_; }
  bool lends_memory() const noexcept override { return true; }

  submit_answer submit(detail::operation& operation) noexcept override {
    io_uring_sqe* const sqe = next_entry();
    prepare_entry(sqe, operation, buffers_);
    if (operation.kind() == detail::operation_kind::send_zero_copy)
      zero_copies_.mark(*sqe, operation);
    io_uring_sqe_set_data(sqe, &operation);
    operation.state = detail::operation::phase::submitted;
    return submit_answer::pending;
  }

  void cancel(detail::operation& operation) noexcept override {
    // Entries are handled in order, so this cannot hit a later operation at the same address.
    io_uring_sqe* const sqe = next_entry();
    io_uring_prep_cancel(sqe, &operation, 0);
    io_uring_sqe_set_data64(sqe, ignore_mark);
    if (operation.kind() == detail::operation_kind::send_zero_copy) zero_copies_.stop(operation);
  }

  void cancel_all() noexcept override {
    io_uring_sqe* const sqe = next_entry();
    io_uring_prep_cancel64(sqe, 0, IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL);
    io_uring_sqe_set_data64(sqe, ignore_mark);
  }

  void use_buffers(detail::receive_buffers& buffers) noexcept override {
    sources_.use_buffers(ring_, buffers);
  }

  void provide_buffer(std::uint32_t index) noexcept override { sources_.provide_buffer(index); }

  bool arm(multishot_source& source) noexcept override {
    io_uring_sqe* const sqe = next_entry();
    sources_.prepare(sqe, source);
    io_uring_sqe_set_data64(sqe, mark_of(source));
    return true;
  }

  void disarm(multishot_source& source) noexcept override {
    io_uring_sqe* const sqe = next_entry();
    io_uring_prep_cancel64(sqe, mark_of(source), 0);
    io_uring_sqe_set_data64(sqe, ignore_mark);
  }

  void wait(std::chrono::steady_clock::time_point deadline) noexcept override {
    using clock = std::chrono::steady_clock;
    if (deadline == clock::time_point::min() || io_uring_cq_ready(&ring_) != 0) {
      check_wait(io_uring_submit_and_get_events(&ring_));
      return;
    }
    if (deadline == clock::time_point::max()) {
      check_wait(wait_.submit_and_wait(ring_, nullptr));
      return;
    }
    const auto now = clock::now();
    const std::int64_t ns =
        deadline <= now
            ? 0
            : std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - now).count();
    __kernel_timespec limit{ns / 1'000'000'000, ns % 1'000'000'000};
    check_wait(wait_.submit_and_wait(ring_, &limit));
  }

  unsigned reap(completion_function ended, void* context) noexcept override {
    unsigned operations = 0;
    std::array<io_uring_cqe*, 64> batch;
    while (const unsigned count =
               io_uring_peek_batch_cqe(&ring_, batch.data(), static_cast<unsigned>(batch.size()))) {
      for (unsigned i = 0; i < count; ++i) {
        if (i + 1 < count) fetch_early(batch[i + 1]->user_data);
        const io_uring_cqe cqe = *batch[i];
        if (cqe.user_data == ignore_mark) continue;
        if (cqe.user_data == wake_mark) {
          drain_event();
          buffers_.look_for_ended();
          if ((cqe.flags & IORING_CQE_F_MORE) == 0) arm_wake();
          continue;
        }
        if ((cqe.user_data & source_bit) != 0) {
          auto& source =
              *reinterpret_cast<multishot_source*>(cqe.user_data & ~source_bit);  // NOLINT
          sources_.received(source, cqe);
          continue;
        }
        auto* const operation =
            reinterpret_cast<detail::operation*>(cqe.user_data);  // NOLINT: it was put in as one
        if (!detail::are_finished_by_backend.has(operation->kind())) {
          operation->complete(cqe.res);
        } else if (!finish(*operation, cqe)) {
          continue;
        }
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
  static std::uint64_t mark_of(multishot_source& source) noexcept {
    return reinterpret_cast<std::uintptr_t>(&source) | source_bit;  // NOLINT: an address and a bit
  }

  /// With some hundred connections, what a completion belongs to has left the cache since it was
  /// submitted: two lines of the operation or the source (marks are no addresses; that does no
  /// harm).
  static void fetch_early(std::uint64_t user_data) noexcept {
    const auto* const target = reinterpret_cast<const char*>(user_data & ~source_bit);  // NOLINT
    TANDEM_PREFETCH_TO_WRITE(target);
    TANDEM_PREFETCH_TO_WRITE(target + 64);
  }

  /// Of those that a row says so of.
  /// @returns  whether the operation has its outcome
  bool finish(detail::operation& operation, const io_uring_cqe& cqe) noexcept {
    std::int32_t outcome = cqe.res;
    if (operation.kind() == detail::operation_kind::connect) {
      return connect_ended(operation, outcome);
    }
    if (operation.kind() == detail::operation_kind::send_zero_copy) {
      return zero_copies_.ended(operation, cqe);
    }
    if (detail::are_polled.has(operation.kind())) {
      if (outcome >= 0) outcome = platform::attempt_when_ready(operation);
      // Somebody else has been faster: it begins again, unless a stop or a move is in the way.
      operation.complete(outcome == platform::would_block ? -EINTR : outcome);
      return true;
    }
    // receive_from
    if (outcome >= 0) message_of(operation).tell(operation.of_datagram());
    operation.complete(outcome);
    return true;
  }

  /// moving/cancel. An attempt that another ring has begun goes on by itself; how it went is asked
  /// then.
  /// @returns  whether the operation has its outcome
  bool connect_ended(detail::operation& operation, std::int32_t outcome) noexcept {
    auto& state = *std::launder(reinterpret_cast<connecting*>(operation.backend_room()));  // NOLINT
    if (outcome == -EALREADY) {
      state.begun_elsewhere = true;
      io_uring_sqe* const sqe = next_entry();
      io_uring_prep_poll_add(sqe, operation.descriptor(), POLLOUT);
      io_uring_sqe_set_data(sqe, &operation);
      return false;
    }
    if (outcome == -EISCONN) outcome = 0;
    if (state.begun_elsewhere && outcome >= 0) {
      int error = 0;
      socklen_t size = sizeof error;
      outcome = ::getsockopt(operation.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size) == 0
                    ? -error
                    : -errno;
    }
    operation.complete(outcome);
    return true;
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
      // Full: the kernel takes what is there. EBUSY means that completions have to be made room
      // for.
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
  ring_wait wait_;
  detail::file_action_set file_actions_;
  native_descriptor event_ = no_descriptor;
  source_entries sources_;
  buffer_table buffers_{ring_, *this};
  zero_copies zero_copies_;
};

}  // namespace

std::unique_ptr<backend> make_uring_backend(const completion_options& options) {
  return std::make_unique<uring_backend>(options);
}

}  // namespace tandem::inline v0::io
