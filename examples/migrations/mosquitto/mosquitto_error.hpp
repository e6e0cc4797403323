// mosquitto_error.hpp: what libmosquitto, and a broker that refuses a connection, answer: as errors.
// SPDX-License-Identifier: MIT
#pragma once

#include <mosquitto.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <tandem/result.hpp>

namespace migrations {

/// Codes are libmosquitto's (mosq_err_t); of a broker's refusals (CONNACK) the negative ones.
class mosquitto_category_type final : public std::error_category {
 public:
  const char* name() const noexcept override { return "mosquitto"; }
  std::string message(int code) const override {
    return code < 0 ? mosquitto_connack_string(-code) : mosquitto_strerror(code);
  }
};
inline const mosquitto_category_type mosquitto_category;

inline constexpr int of_the_system = 1 << 16;

/// Of a connection that ended. "See errno" does not last, and no error is none only for who ended it.
inline int lasting(int code) noexcept {
  if (code == MOSQ_ERR_SUCCESS) return MOSQ_ERR_NO_CONN;
  return code == MOSQ_ERR_ERRNO ? of_the_system + errno : code;
}

inline tandem::result<void> answer_of(int code) {
  if (code == MOSQ_ERR_SUCCESS) return {};
  if (code < of_the_system) return std::error_code(code, mosquitto_category);
  return std::error_code(code - of_the_system, std::system_category());
}

}  // namespace migrations
