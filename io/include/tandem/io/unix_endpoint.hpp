// unix_endpoint.hpp: the name of a Unix socket.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <tandem/io/export.hpp>

namespace tandem::inline v0::io {

/// A path in the file system, a name in Linux's abstract space, or no name at all.
///
///     const auto here = tandem::io::unix_endpoint::path("/run/service.sock");
///
/// @thread_safety  as a value
/// @source         man page unix(7)
class TANDEM_IO_API unix_endpoint {
 public:
  static constexpr std::size_t most_bytes = 107;

  /// Without a name, as the ends of a pair have none.
  unix_endpoint() noexcept = default;
  /// @throws  std::system_error: filename_too_long (more than most_bytes); invalid_argument (empty,
  ///          or with a zero byte)
  static unix_endpoint path(std::string_view name);
  /// Of this network namespace, without a file; it goes with its socket. Any bytes.
  ///
  /// @throws  std::system_error: filename_too_long
  static unix_endpoint abstract(std::string_view name);
  /// What to_string() writes: "@name" is abstract, anything else a path.
  ///
  /// @throws  as those
  static unix_endpoint parse(std::string_view text);

  bool is_unnamed() const noexcept { return kind_ == kind::unnamed; }
  bool is_path() const noexcept { return kind_ == kind::path; }
  bool is_abstract() const noexcept { return kind_ == kind::abstract; }
  /// The path, or the abstract name, without any mark.
  std::string_view name() const noexcept { return {bytes_.data(), size_}; }
  /// For people: "/run/service.sock", "@service", "an unnamed socket".
  std::string to_string() const;

  friend bool operator==(const unix_endpoint&, const unix_endpoint&) noexcept = default;

 private:
  enum class kind : std::uint8_t { unnamed, path, abstract };
  unix_endpoint(kind of, std::string_view name);

  kind kind_ = kind::unnamed;
  std::uint8_t size_ = 0;
  std::array<char, most_bytes> bytes_{};
};

}  // namespace tandem::inline v0::io

/// As that of an endpoint.
template <>
struct std::hash<tandem::io::unix_endpoint> {
  std::size_t operator()(const tandem::io::unix_endpoint& of) const noexcept {
    const std::size_t name = std::hash<std::string_view>{}(of.name());
    return of.is_abstract() ? ~name : name;  // "/x" is also an abstract name
  }
};
