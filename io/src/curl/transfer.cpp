// transfer.cpp: a transfer as its reader sees it.
// SPDX-License-Identifier: MIT
#include <tandem/io/curl/errors.hpp>
#include <tandem/io/curl/transfer.hpp>
#include <tandem/shielded.hpp>
#include <utility>

#include "curl/session_core.hpp"

namespace tandem::inline v0::io::curl {

namespace {

task<std::size_t> nothing_to_read() {
  throw error(errc::session_ended, "this transfer was never opened, or was closed or moved from",
              "");
  co_return 0;
}

task<void> closed(std::shared_ptr<session_core> core, std::shared_ptr<exchange> gone) {
  co_await shielded(session_core::close_or_drop(core, gone));
}

task<void> nothing_to_close() { co_return; }

}  // namespace

transfer::transfer(std::shared_ptr<session_core> core, std::shared_ptr<exchange> made,
                   response head)
    : core_(std::move(core)), exchange_(std::move(made)), head_(std::move(head)) {}

transfer& transfer::operator=(transfer&& other) noexcept {
  if (this != &other) {
    drop();
    core_ = std::move(other.core_);
    exchange_ = std::move(other.exchange_);
    head_ = std::move(other.head_);
  }
  return *this;
}
transfer::~transfer() { drop(); }

void transfer::drop() noexcept {
  if (exchange_ == nullptr) return;
  const std::shared_ptr<session_core> core = std::move(core_);
  core->drop(std::move(exchange_));
}

task<std::size_t> transfer::read(std::span<std::byte> buffer) {
  if (exchange_ == nullptr) return nothing_to_read();
  return session_core::read(core_, exchange_, buffer, head_);
}

task<void> transfer::close() {
  if (exchange_ == nullptr) return nothing_to_close();
  task<void> ending = closed(core_, exchange_);  // which may be refused: then it is still open
  core_ = nullptr;
  exchange_ = nullptr;
  return ending;
}

}  // namespace tandem::inline v0::io::curl
