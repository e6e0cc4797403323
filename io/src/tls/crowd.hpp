// crowd.hpp: the handshakes of one accepting(), the oldest first. Protocol tls_crowd: README.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <mutex>
#include <stop_token>
#include <tandem/io/tls/accepting.hpp>

namespace tandem::inline v0::io::detail {

/// @thread_safety  any thread
class tls_crowd {
 public:
  /// One handshake's; in the frame of its task.
  class place {
   public:
    /// tls_crowd/enter. @throws std::bad_alloc
    explicit place(tls_crowd& of);
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    /// tls_crowd/leave
    ~place();

    std::stop_token token() const noexcept { return stop_.get_token(); }
    void request_stop() noexcept { stop_.request_stop(); }
    /// Whether it was stopped for a newer one.
    bool was_crowded_out() const noexcept;

   private:
    friend tls_crowd;
    tls_crowd* of_;
    std::stop_source stop_;
    place* older_ = nullptr;  // under the crowd's lock, as what follows
    place* newer_ = nullptr;
    bool is_out_ = false;
  };

  /// @throws  std::invalid_argument
  tls_crowd(tls::server_context context, tls::accepting_options options);

  const tls::server_context& context() const noexcept { return context_; }
  const tls::accepting_options& options() const noexcept { return options_; }

 private:
  void take_out(place& which) noexcept;

  const tls::server_context context_;
  const tls::accepting_options options_;
  mutable std::mutex lock_;
  place* oldest_ = nullptr;
  place* newest_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace tandem::inline v0::io::detail
