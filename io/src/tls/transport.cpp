// transport.cpp: the BIO method.
// SPDX-License-Identifier: MIT
#include "tls/transport.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <tandem/result.hpp>

namespace tandem::inline v0::io::detail {

namespace {

/// Some 40 messages of new keys.
constexpr std::size_t slow_bytes = 1024;
/// As much as fills OpenSSL's own large buffer.
constexpr std::size_t large_bytes = std::size_t{32} * 1024;

}  // namespace

BIO_METHOD* tls_transport::method() {
  // Kept until the process ends: connections of static objects may outlive whatever would free it.
  static BIO_METHOD* const made = [] {
    BIO_METHOD* const fresh = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "tandem");
    if (fresh != nullptr) {
      BIO_meth_set_read(fresh, &tls_transport::read);
      BIO_meth_set_write(fresh, &tls_transport::write);
      BIO_meth_set_ctrl(fresh, &tls_transport::control);
    }
    return fresh;
  }();
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

BIO* tls_transport::make_bio() {
  BIO* const made = BIO_new(method());
  if (made == nullptr) throw std::bad_alloc();
  BIO_set_data(made, this);
  BIO_set_init(made, 1);
  return made;
}

std::span<std::byte> tls_transport::room() {
  reads_large_ = is_busy_ && !can_try_;
  if (reads_large_) large_.reserve(large_bytes);
  is_lent_ = true;
  if (!reads_large_) return small_;
  return large_.whole().first((std::min)(large_.whole().size(), large_bytes));
}

void tls_transport::came(std::size_t bytes) noexcept {
  is_lent_ = false;
  ++arrivals_;
  begin_ = 0;
  end_ = bytes;
  has_ended_ = bytes == 0;
  has_come_ = has_come_ || bytes != 0;
  is_busy_ = reads_large_ ? bytes > small_.size() : bytes == small_.size();
}

int tls_transport::take(char* to, std::size_t room) noexcept {
  if (begin_ == end_) return take_from_below(to, room);
  const std::byte* const from = reads_large_ ? large_.whole().data() : small_.data();
  const std::size_t count = (std::min)(room, end_ - begin_);
  std::memcpy(to, from + begin_, count);
  begin_ += count;
  if (begin_ == end_) large_.give_back();
  return static_cast<int>(count);
}

int tls_transport::take_from_below(char* to, std::size_t room) noexcept {
  if (!is_busy_ || !can_try_ || is_lent_ || has_ended_ || failure_) return -1;
  const result<std::size_t> got = below_->try_read(std::as_writable_bytes(std::span(to, room)));
  if (got) {
    ++arrivals_;
    const std::size_t count = got.value();
    is_busy_ = count == room;  // else that was all
    has_ended_ = count == 0;
    return count == 0 ? -1 : static_cast<int>(count);
  }
  const std::error_code error = got.error();
  if (error == std::errc::operation_not_supported) {
    can_try_ = false;
  } else if (error == std::errc::operation_would_block) {
    is_busy_ = false;
  } else if (error != std::errc::operation_in_progress) {
    failure_ = error;
    ++arrivals_;
  }
  return -1;
}

int tls_transport::read(BIO* bio, char* to, int room) {
  BIO_clear_retry_flags(bio);
  auto& self = *static_cast<tls_transport*>(BIO_get_data(bio));
  auto most = static_cast<std::size_t>((std::max)(room, 0));
  if (self.is_slow_) most = self.has_given_ ? 0 : (std::min)(most, slow_bytes);
  const int count = most > 0 ? self.take(to, most) : -1;
  self.has_given_ = self.has_given_ || count > 0;
  if (count < 0) BIO_set_retry_read(bio);
  return count;
}

int tls_transport::write(BIO* bio, const char* bytes, int count) {
  BIO_clear_retry_flags(bio);
  if (count <= 0) return 0;
  auto& self = *static_cast<tls_transport*>(BIO_get_data(bio));
  try {
    self.output_.append(bytes, static_cast<std::size_t>(count));
  } catch (const std::bad_alloc&) {
    self.has_lost_output_ = true;
    return -1;
  }
  return count;
}

long tls_transport::control(BIO* bio, int command, long /*argument*/, void* /*pointer*/) {
  const auto& self = *static_cast<tls_transport*>(BIO_get_data(bio));
  switch (command) {
    case BIO_CTRL_FLUSH: return 1;
    case BIO_CTRL_WPENDING: return static_cast<long>(self.output_.size());
    case BIO_CTRL_PENDING: return static_cast<long>(self.end_ - self.begin_);
    case BIO_CTRL_EOF: return self.has_ended_ ? 1 : 0;
    default: return 0;
  }
}

}  // namespace tandem::inline v0::io::detail
