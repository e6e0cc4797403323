// byte_stream.cpp: the errors of a stream's contents.
// SPDX-License-Identifier: MIT
#include <string>
#include <tandem/io/byte_stream.hpp>

namespace tandem::inline v0::io {

namespace {

class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "stream"; }
  std::string message(int code) const override {
    switch (static_cast<stream_errc>(code)) {
      case stream_errc::unexpected_end: return "the stream ended in the middle of something";
      case stream_errc::too_long: return "longer than the limit";
    }
    return "unknown";
  }
};

}  // namespace

const std::error_category& stream_category() noexcept {
  static const category only;
  return only;
}

std::error_code make_error_code(stream_errc error) noexcept {
  return {static_cast<int>(error), stream_category()};
}

}  // namespace tandem::inline v0::io
