// resolve.cpp: from names to endpoints, and back.
// SPDX-License-Identifier: MIT
#include <charconv>
#include <cstdint>
#include <functional>
#include <new>
#include <tandem/as_result.hpp>
#include <tandem/blocking.hpp>
#include <tandem/io/resolve.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/stop.hpp>
#include <tandem/timeout.hpp>
#include <utility>

#include "platform/names.hpp"

namespace tandem::inline v0::io {

namespace {

class condition_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "resolve condition"; }
  std::string message(int code) const override {
    switch (static_cast<resolve_errc>(code)) {
      case resolve_errc::host_not_found: return "host not found";
      case resolve_errc::service_not_found: return "service not found";
      case resolve_errc::try_again: return "no name server answered";
      case resolve_errc::failed: return "a name server failed";
    }
    return "unknown";
  }
};

/// A text that the system would read only up to its first zero names somebody else.
bool has_zero(const std::string& text) noexcept { return text.find('\0') != std::string::npos; }

/// A number that is no port. The system would take its last 16 bits, and digits after blanks or a
/// sign.
bool is_no_port(const std::string& service) noexcept {
  if (service.empty() || service.find_first_not_of("0123456789+- \t\n\v\f\r") != std::string::npos)
    return false;  // a name
  std::uint16_t port = 0;
  const char* const last = service.data() + service.size();
  const auto [stopped, error] = std::from_chars(service.data(), last, port);
  return error != std::errc{} || stopped != last;
}

}  // namespace

const std::error_category& resolve_category() noexcept { return platform::name_category(); }

std::error_condition make_error_condition(resolve_errc meaning) noexcept {
  static const condition_category only;
  return {static_cast<int>(meaning), only};
}

namespace {

/// One call of the system, which belongs to nobody else: it may go on after all have left. A
/// failure is in what it returns, since there may be nobody to be told of it.
template <class Found, class Call>
task<Found> look_up_alone(Call call) {
  Found got;
  try {
    got = co_await blocking(std::ref(call));
  } catch (const operation_cancelled&) {
    throw;  // nobody waits for it any more
  } catch (const std::system_error& refused) {
    got.error = refused.code();
  } catch (const std::bad_alloc&) {
    got.error = std::make_error_code(std::errc::not_enough_memory);
  }
  co_return got;
}

/// Whoever leaves early takes back what has not begun.
template <class Found>
class waited_for {
 public:
  explicit waited_for(join_handle<Found>&& started) noexcept : started_(std::move(started)) {}
  waited_for(const waited_for&) = delete;
  waited_for& operator=(const waited_for&) = delete;
  ~waited_for() {
    if (!started_.is_done()) started_.cancel();
  }
  task<Found> end() { co_return co_await started_; }

 private:
  join_handle<Found> started_;
};

template <class Found, class Call>
task<Found> look_up_once(Call call, std::optional<std::chrono::milliseconds> limit) {
  waited_for<Found> looking(spawn(no_flow, look_up_alone<Found>(std::move(call))));
  if (!limit) co_return co_await looking.end();
  auto got = co_await as_result(with_timeout(*limit, looking.end()));
  if (!got.is_cancelled() || stop_requested()) co_return std::move(got).value();  // or it throws
  Found late;
  late.error = std::make_error_code(std::errc::timed_out);
  co_return late;
}

/// As often as the options say. A failure is in what it returns.
template <class Found, class Call>
task<Found> look_up(Call call, resolve_options options) {
  if (stop_requested()) throw operation_cancelled(current_stop_reason());
  for (unsigned left = options.tries; true; --left) {
    Found got = co_await look_up_once<Found>(call, options.limit);
    const bool may_change =
        got.error == resolve_errc::try_again || got.error == std::errc::timed_out;
    if (!may_change || left <= 1) co_return got;
    co_await sleep_for(options.pause);
  }
}

}  // namespace

task<std::vector<endpoint>> resolve(std::string host, std::string service,
                                    resolve_options options) {
  platform::found_names got;
  if (host.empty() || has_zero(host) || has_zero(service)) {
    got.error = platform::host_not_found();
  } else if (is_no_port(service)) {
    got.error = platform::service_not_found();
  } else {
    got = platform::look_up(host, service, false);
    if (got.error == platform::host_not_found()) {
      const auto call = [host, service] { return platform::look_up(host, service, true); };
      got = co_await look_up<platform::found_names>(call, options);
    }
  }
  if (got.error) {
    throw std::system_error(got.error, "tandem::io::resolve \"" + host + "\", \"" + service + "\"");
  }
  co_return std::move(got.found);
}

task<std::vector<endpoint>> resolve(std::string host, std::uint16_t port, resolve_options options) {
  return resolve(std::move(host), std::to_string(port), options);
}

task<std::string> name_of(endpoint address, resolve_options options) {
  const auto call = [address] { return platform::name_at(address); };
  platform::found_host got = co_await look_up<platform::found_host>(call, options);
  if (got.error) {
    throw std::system_error(got.error, "tandem::io::name_of " + address.to_string());
  }
  co_return std::move(got.found);
}

}  // namespace tandem::inline v0::io
