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
#include <cstdlib>
#include <new>
#include <utility>

#include "operation/backend.hpp"
#include "receive/receive_buffers.hpp"
#include "uring/operation_entry.hpp"
#include "uring/ring_set_up.hpp"
#include "uring/ring_wait.hpp"

namespace tandem::inline v0::io {

namespace {

constexpr std::uint64_t wake_mark = 1;
constexpr std::uint64_t ignore_mark = 2;
constexpr std::uint64_t source_bit = 4;  // beside a multishot_source's address
static_assert(alignof(multishot_source) >= 8 && alignof(detail::operation) >= 8);
constexpr unsigned short buffer_group = 0;

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
    arm_wake();
  }
  ~uring_backend() override {
    io_uring_queue_exit(&ring_);
    std::free(buffer_ring_);
    ::close(event_);
  }

  std::string_view name() const noexcept override { return "io_uring"; }
  bool takes_files() const noexcept override { return true; }

  submit_answer submit(detail::operation& operation) noexcept override {
    io_uring_sqe* const sqe = next_entry();
    prepare_entry(sqe, operation);
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

  void cancel_all() noexcept override {
    io_uring_sqe* const sqe = next_entry();
    io_uring_prep_cancel64(sqe, 0, IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL);
    io_uring_sqe_set_data64(sqe, ignore_mark);
  }

  void use_buffers(detail::receive_buffers& buffers) noexcept override {
    buffers_ = &buffers;
    for (std::uint32_t i = 0; i < buffers.at_once(); ++i) buffers.next(i) = i + 1;
    buffers.next(buffers.at_once() - 1) = detail::receive_buffers::none;
    stock_ = 0;
    register_buffer_ring();
  }

  void provide_buffer(std::uint32_t index) noexcept override {
    if (buffer_ring_ != nullptr) {
      add_to_ring(index, 0);
      io_uring_buf_ring_advance(buffer_ring_, 1);
      return;
    }
    buffers_->next(index) = stock_;
    stock_ = index;
  }

  bool arm(multishot_source& source) noexcept override {
    if (source.what() == multishot_source::kind::accept) {
      io_uring_sqe* const sqe = next_entry();
      if (multishot_accept_) {
        io_uring_prep_multishot_accept(sqe, source.descriptor(), nullptr, nullptr, SOCK_CLOEXEC);
      } else {
        io_uring_prep_accept(sqe, source.descriptor(), nullptr, nullptr, SOCK_CLOEXEC);
      }
      io_uring_sqe_set_data64(sqe, mark_of(source));
      return true;
    }
    if (buffer_ring_ == nullptr) {
      arm_once(source);
      return true;
    }
    io_uring_sqe* const sqe = next_entry();
    if (multishot_) {
      io_uring_prep_recv_multishot(sqe, source.descriptor(), nullptr, 0, 0);
    } else {
      io_uring_prep_recv(sqe, source.descriptor(), nullptr, 0, 0);
    }
    sqe->flags = static_cast<std::uint8_t>(sqe->flags | IOSQE_BUFFER_SELECT);
    sqe->buf_group = buffer_group;
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
          if ((cqe.flags & IORING_CQE_F_MORE) == 0) arm_wake();
          continue;
        }
        if ((cqe.user_data & source_bit) != 0) {
          source_received(cqe);
          continue;
        }
        auto* const operation =
            reinterpret_cast<detail::operation*>(cqe.user_data);  // NOLINT: it was put in as one
        if (operation->kind() != detail::operation_kind::connect) {
          operation->complete(cqe.res);
        } else if (!connect_ended(*operation, cqe.res)) {
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

  /// Since 5.19. Where it is refused buffers come from our own stock, one for each receive that
  /// waits.
  void register_buffer_ring() noexcept {
    constexpr std::size_t page = 4096;
    void* const memory = std::aligned_alloc(
        page, (buffers_->at_once() * sizeof(io_uring_buf) + page - 1) / page * page);
    if (memory == nullptr) return;
    io_uring_buf_reg request{};
    request.ring_addr = reinterpret_cast<std::uintptr_t>(memory);  // NOLINT
    request.ring_entries = buffers_->at_once();
    request.bgid = buffer_group;
    if (io_uring_register_buf_ring(&ring_, &request, 0) != 0) {
      std::free(memory);
      return;
    }
    buffer_ring_ = static_cast<io_uring_buf_ring*>(memory);
    io_uring_buf_ring_init(buffer_ring_);
    for (std::uint32_t i = 0; i < buffers_->at_once(); ++i) add_to_ring(i, static_cast<int>(i));
    io_uring_buf_ring_advance(buffer_ring_, static_cast<int>(buffers_->at_once()));
    stock_ = detail::receive_buffers::none;
  }

  void add_to_ring(std::uint32_t index, int offset) noexcept {
    io_uring_buf_ring_add(buffer_ring_, buffers_->data(index), buffers_->bytes_each(),
                          static_cast<unsigned short>(index),
                          io_uring_buf_ring_mask(buffers_->at_once()), offset);
  }

  void arm_once(multishot_source& source) noexcept {
    const std::uint32_t index = stock_;
    if (index == detail::receive_buffers::none) {
      // As the kernel answers it: by a completion.
      io_uring_sqe* const sqe = next_entry();
      io_uring_prep_nop(sqe);
      io_uring_sqe_set_data64(sqe, mark_of(source));
      return;
    }
    stock_ = buffers_->next(index);
    source.backend_buffer = index;
    io_uring_sqe* const sqe = next_entry();
    io_uring_prep_recv(sqe, source.descriptor(), buffers_->data(index), buffers_->bytes_each(), 0);
    io_uring_sqe_set_data64(sqe, mark_of(source));
  }

  /// With some hundred connections, what a completion belongs to has left the cache since it was
  /// submitted: two lines of the operation or the source (marks are no addresses; that does no
  /// harm).
  static void fetch_early(std::uint64_t user_data) noexcept {
    const auto* const target = reinterpret_cast<const char*>(user_data & ~source_bit);  // NOLINT
    __builtin_prefetch(target, 1);
    __builtin_prefetch(target + 64, 1);
  }

  static bool listens(int descriptor) noexcept {
    int answer = 0;
    socklen_t bytes = sizeof answer;
    return ::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &answer, &bytes) == 0 && answer != 0;
  }

  void source_received(const io_uring_cqe& cqe) noexcept {
    auto& source = *reinterpret_cast<multishot_source*>(cqe.user_data & ~source_bit);  // NOLINT
    constexpr std::uint32_t none = detail::receive_buffers::none;
    std::int32_t outcome = cqe.res;
    bool armed = (cqe.flags & IORING_CQE_F_MORE) != 0;
    std::uint32_t buffer = none;
    if (source.what() == multishot_source::kind::accept) {
      if (outcome == -EINVAL && multishot_accept_ && listens(source.descriptor())) {
        multishot_accept_ = false;  // before 5.19: one at a time
        (void)arm(source);
      } else {
        source.received(outcome, none, armed);
      }
      return;
    }
    if (buffer_ring_ == nullptr) {
      buffer = std::exchange(source.backend_buffer, none);
      if (buffer == none) outcome = -ENOBUFS;
      armed = false;
    } else if ((cqe.flags & IORING_CQE_F_BUFFER) != 0) {
      buffer = cqe.flags >> IORING_CQE_BUFFER_SHIFT;
    } else if (outcome == -EINVAL && multishot_) {
      multishot_ = false;  // before 6.0: one receive at a time, into a buffer that the kernel picks
      (void)arm(source);
      return;
    }
    if (outcome <= 0 && buffer != none) provide_buffer(std::exchange(buffer, none));
    source.received(outcome, buffer, armed);
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
  int event_ = -1;
  bool multishot_ = true;         // until the kernel says otherwise
  bool multishot_accept_ = true;  // likewise
  detail::receive_buffers* buffers_ = nullptr;
  io_uring_buf_ring* buffer_ring_ = nullptr;
  std::uint32_t stock_ = detail::receive_buffers::none;  // without a ring: a chain of free ones
};

}  // namespace

std::unique_ptr<backend> make_uring_backend(const completion_options& options) {
  return std::make_unique<uring_backend>(options);
}

}  // namespace tandem::inline v0::io
