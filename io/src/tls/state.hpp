// state.hpp: what copies of a client_context, or server_context, share.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <mutex>
#include <tandem/io/tls/context.hpp>

#include "tls/generation.hpp"

namespace tandem::inline v0::io::detail {

/// The newest generation; connections keep theirs.
///
/// @thread_safety  any thread
class tls_newest {
 public:
  explicit tls_newest(std::shared_ptr<tls_generation> first) noexcept : newest_(std::move(first)) {}

  std::shared_ptr<tls_generation> get() const {
    const std::lock_guard held(lock_);
    return newest_;
  }
  void set(std::shared_ptr<tls_generation> next) {
    const std::lock_guard held(lock_);
    newest_.swap(next);
  }

 private:
  mutable std::mutex lock_;
  std::shared_ptr<tls_generation> newest_;
};

/// Options, kept so that files can be read again. Reloads come one after the other.
template <class Options>
class tls_kept_options {
 public:
  explicit tls_kept_options(const Options& first) : options_(first) {}

  /// @param build  makes a generation of options; what it throws leaves everything as it was
  template <class Build>
  void reload(tls_newest& into, const Options* other, Build build) {
    const std::lock_guard held(lock_);
    Options next = other != nullptr ? *other : options_;
    into.set(build(next));
    options_ = std::move(next);
  }

 private:
  std::mutex lock_;
  Options options_;
};

class tls_client_state {
 public:
  explicit tls_client_state(const tls::client_options& options)
      : newest(build_client(options)), kept(options) {}
  tls_newest newest;
  tls_kept_options<tls::client_options> kept;
};

class tls_server_state {
 public:
  explicit tls_server_state(const tls::server_options& options)
      : tickets(std::make_shared<tls_ticket_keys>(options.ticket_lifetime)),
        newest(build_server(options, tickets)),
        kept(options) {}
  std::shared_ptr<tls_ticket_keys> tickets;
  tls_newest newest;
  tls_kept_options<tls::server_options> kept;
};

}  // namespace tandem::inline v0::io::detail
