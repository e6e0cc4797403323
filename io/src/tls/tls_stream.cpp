// tls_stream.cpp: the handle of a session.
// SPDX-License-Identifier: MIT
#include <system_error>
#include <tandem/io/tls/tls_stream.hpp>
#include <utility>

#include "tls/session.hpp"

namespace tandem::inline v0::io {

namespace {

[[noreturn]] void throw_not_open() {
  throw std::system_error(std::make_error_code(std::errc::bad_file_descriptor), "tls_stream");
}

template <class T>
task<T> fails_not_open() {
  throw_not_open();
  co_return T();
}
template <>
task<void> fails_not_open<void>() {
  throw_not_open();
  co_return;
}

}  // namespace

tls_stream::tls_stream() noexcept = default;
tls_stream::tls_stream(tls_stream&& other) noexcept = default;
tls_stream::tls_stream(std::shared_ptr<detail::tls_session> session) noexcept
    : session_(std::move(session)) {}
tls_stream& tls_stream::operator=(tls_stream&& other) noexcept {
  if (this != &other) {
    close();
    session_ = std::move(other.session_);
  }
  return *this;
}
tls_stream::~tls_stream() { close(); }

void tls_stream::close() noexcept {
  if (session_ == nullptr) return;
  session_->abandon();
  session_.reset();
}

task<std::size_t> tls_stream::read(std::span<std::byte> buffer) {
  return is_open() ? session_->read(buffer) : fails_not_open<std::size_t>();
}
task<std::size_t> tls_stream::write(std::span<const std::byte> bytes) {
  return is_open() ? session_->write(bytes) : fails_not_open<std::size_t>();
}
task<void> tls_stream::write_all(std::span<const std::byte> bytes) {
  return is_open() ? session_->write_all(bytes) : fails_not_open<void>();
}
task<void> tls_stream::write_list(std::span<const std::span<const std::byte>> buffers) {
  return is_open() ? session_->write_list(buffers) : fails_not_open<void>();
}
task<bool> tls_stream::finish(std::chrono::steady_clock::duration most) {
  return is_open() ? session_->finish(most) : fails_not_open<bool>();
}

void tls_stream::shutdown() {
  if (!is_open()) throw_not_open();
  session_->shutdown();
}

void tls_stream::update_keys(bool of_peer_too) {
  if (!is_open()) throw_not_open();
  session_->update_keys(of_peer_too);
}

tls::session_details tls_stream::details() const {
  TANDEM_ASSERT(is_open(), "details() of a tls_stream that is not open");
  return session_->details();
}

any_stream& tls_stream::next() noexcept {
  TANDEM_ASSERT(is_open(), "next() of a tls_stream that is not open");
  return session_->below();
}

bool tls_stream::has_thread_executor() {
  return is_open() && session_->below().has_thread_executor();
}

tandem::executor& tls_stream::thread_executor() {
  TANDEM_ASSERT(is_open(), "thread_executor() of a tls_stream that is not open");
  return session_->below().thread_executor();
}

}  // namespace tandem::inline v0::io
