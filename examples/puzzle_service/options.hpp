// options.hpp: what can be set on the command line of puzzle_service.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace service {

class service_options {
 public:
  service_options() = default;

  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;  ///< 0: a free one
  /// PEM files of a certificate and of its key: HTTPS. Both empty: HTTP.
  std::string certificate;
  std::string key;
  unsigned threads = 0;     ///< workers; 0: the runtime's default
  unsigned io_threads = 0;  ///< completion threads; 0: io's default

  std::size_t header_limit_bytes = 8 * 1024;
  std::size_t body_limit_bytes = 64 * 1024;
  std::size_t connection_limit = 1000;
  std::size_t turned_away_limit = 256;  ///< clients that get 503 at the same time
  std::size_t search_limit = 64;        ///< searches at the same time
  std::size_t stream_limit = 100;       ///< GET /events at the same time
  std::chrono::milliseconds idle_time{30'000};
  std::chrono::milliseconds search_time{30'000};
  std::uint64_t search_nodes = 50'000'000;
  std::uint64_t search_memory_mib = 1024;
  std::chrono::milliseconds grace_time{5'000};

  std::string database = "memory";  ///< a file, postgresql://..., "memory" or "none"
  std::size_t database_limit = 0;   ///< answers; 0: see open_store()

  /// Whether GET /debug/... answers. Not said: if only this machine can ask.
  std::optional<bool> debug;
  bool tells_of_tasks() const noexcept;
};

/// Reads the command line.
///
/// @param exit_code     set if there is nothing to run: after --help (0) or a mistake (2)
std::optional<service_options> parse_options(int argc, char** argv, int& exit_code);

}  // namespace service
