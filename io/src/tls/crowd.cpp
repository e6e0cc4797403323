// crowd.cpp: places for handshakes, and what becomes of each. Protocol tls_crowd: README.md.
// SPDX-License-Identifier: MIT
#include "tls/crowd.hpp"

#include <stdexcept>
#include <tandem/as_result.hpp>
#include <tandem/io/tls/errors.hpp>
#include <tandem/stop.hpp>
#include <tandem/timeout.hpp>
#include <tandem/with_stop.hpp>
#include <utility>

namespace tandem::inline v0::io::detail {

tls_crowd::tls_crowd(tls::server_context context, tls::accepting_options options)
    : context_(std::move(context)), options_(std::move(options)) {
  if (options_.max_handshakes == 0) {
    throw std::invalid_argument("accepting_options::max_handshakes is 0: nobody could come in");
  }
}

void tls_crowd::take_out(place& which) noexcept {
  (which.older_ != nullptr ? which.older_->newer_ : oldest_) = which.newer_;
  (which.newer_ != nullptr ? which.newer_->older_ : newest_) = which.older_;
  which.is_out_ = true;
  --count_;
}

tls_crowd::place::place(tls_crowd& of) : of_(&of) {
  std::stop_source to_stop(std::nostopstate);
  {
    const std::lock_guard held(of.lock_);
    older_ = of.newest_;
    (older_ != nullptr ? older_->newer_ : of.oldest_) = this;
    of.newest_ = this;
    if (++of.count_ > of.options_.max_handshakes) {
      to_stop = of.oldest_->stop_;
      of.take_out(*of.oldest_);
    }
  }
  to_stop.request_stop();  // a copy: its place may be gone by now
}

tls_crowd::place::~place() {
  const std::lock_guard held(of_->lock_);
  if (!is_out_) of_->take_out(*this);
}

bool tls_crowd::place::was_crowded_out() const noexcept {
  const std::lock_guard held(of_->lock_);
  return is_out_;
}

tls_gate::tls_gate(tls::server_context context, tls::accepting_options options)
    : crowd_(std::make_shared<tls_crowd>(std::move(context), std::move(options))) {}
tls_gate::tls_gate(const tls_gate&) = default;
tls_gate::tls_gate(tls_gate&&) noexcept = default;
tls_gate::~tls_gate() = default;

namespace {

using counter = std::atomic<std::uint64_t> tls::accepting_counts::*;

void count(const tls::accepting_options& options, counter which) noexcept {
  if (options.counts == nullptr) return;
  (options.counts->*which).fetch_add(1, std::memory_order_relaxed);  // a count: orders nothing
}

/// What a handshake has ended by, told to whoever wants to know. @throws it, if that is nobody
/// @param is_quiet  nothing is said of it unless it was asked for
void tell(const tls::accepting_options& options, std::exception_ptr failure, bool is_quiet) {
  if (options.on_handshake_error) return options.on_handshake_error(std::move(failure));
  if (!is_quiet) std::rethrow_exception(std::move(failure));
}

}  // namespace

task<tls_stream> tls_gate::admit(any_stream stream, std::stop_token draining) const {
  const std::shared_ptr<tls_crowd> crowd = crowd_;
  const tls::accepting_options& options = crowd->options();
  const auto limit = tandem::detail::deadline_after(options.handshake_timeout);
  tls_crowd::place place(*crowd);
  result<tls_stream> ended{std::exception_ptr()};
  {
    const std::stop_callback drains(draining, [&place]() noexcept { place.request_stop(); });
    ended = co_await as_result(with_stop(
        place.token(), with_deadline(limit, tls::accept(std::move(stream), crowd->context()))));
  }
  if (ended) {
    count(options, &tls::accepting_counts::accepted);
    co_return std::move(ended.value());
  }
  if (!ended.is_cancelled()) {
    count(options, &tls::accepting_counts::failed);
    tell(options, ended.exception(), ended.error() == tls::errc::nothing_said);
  } else if (stop_requested() || draining.stop_requested()) {
    std::rethrow_exception(ended.exception());  // the server ends: no failure of this one
  } else if (place.was_crowded_out()) {
    count(options, &tls::accepting_counts::crowded_out);
    tell(options, std::make_exception_ptr(tls::error(tls::errc::overcrowded, "tls::accepting", "")),
         true);
  } else {
    count(options, &tls::accepting_counts::timed_out);
    tell(options,
         std::make_exception_ptr(std::system_error(std::make_error_code(std::errc::timed_out),
                                                   "tls::accepting: handshake")),
         true);
  }
  co_return tls_stream();
}

}  // namespace tandem::inline v0::io::detail
