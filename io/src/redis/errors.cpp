// errors.cpp: what the codes say, and which code an answer of the server's is.
// SPDX-License-Identifier: MIT
#include <array>
#include <string_view>
#include <tandem/io/redis/errors.hpp>
#include <utility>

namespace tandem::inline v0::io::redis {
namespace {

const char* text_of(errc code) noexcept {
  switch (code) {
    case errc::refused: return "no connection to the Redis server";
    case errc::connection_lost:
      return "the connection was lost before the answer came: the command was done or not";
    case errc::not_sent: return "there is no connection: the command was not sent";
    case errc::timed_out: return "the Redis server has not answered in time";
    case errc::closed: return "the client was closed, or never connected";
    case errc::protocol_error: return "what came is not what a Redis server answers";
    case errc::too_large: return "an answer is larger than options::max_reply_bytes allows";
    case errc::overflow:
      return "more messages came than max_buffered_bytes of subscriber::connect() allows";
    case errc::not_here: return "this command cannot be given here";
    case errc::bad_option: return "an option cannot be used";
    case errc::unexpected_reply:
      return "ask for the kind that is answered, for std::optional where it may be nil, or for "
             "redis::reply";
    case errc::aborted: return "a watched key has changed: the transaction was not done";
    case errc::transaction_refused:
      return "a command of the transaction was refused: nothing was done";
    case errc::wrong_type: return "the key holds another kind of value";
    case errc::no_auth: return "not authenticated, or not allowed: look at username and password";
    case errc::moved: return "another node of the cluster has the key";
    case errc::loading: return "the server is not ready yet: try again later";
    case errc::busy: return "the server runs a script: try again later";
    case errc::read_only: return "this server takes no writes";
    case errc::no_script: return "the server does not have this script: EVAL sends it";
    case errc::out_of_memory: return "the server is at its limit of memory";
    case errc::server_error: return "the server has answered with an error";
  }
  return "unknown";
}

class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "tandem.redis"; }
  std::string message(int code) const override { return text_of(static_cast<errc>(code)); }
  std::error_condition default_error_condition(int code) const noexcept override {
    switch (static_cast<errc>(code)) {
      case errc::timed_out: return std::errc::timed_out;
      case errc::refused: return std::errc::connection_refused;
      case errc::connection_lost: return std::errc::connection_reset;
      case errc::not_sent: return std::errc::not_connected;
      case errc::protocol_error: return std::errc::protocol_error;
      default: return {code, *this};
    }
  }
};

constexpr std::array<std::pair<std::string_view, errc>, 20> first_words{{
    {"WRONGTYPE", errc::wrong_type},
    {"NOAUTH", errc::no_auth},
    {"WRONGPASS", errc::no_auth},
    {"NOPERM", errc::no_auth},
    {"DENIED", errc::no_auth},
    {"MOVED", errc::moved},
    {"ASK", errc::moved},
    {"LOADING", errc::loading},
    {"MASTERDOWN", errc::loading},
    {"CLUSTERDOWN", errc::loading},
    {"TRYAGAIN", errc::loading},
    {"BUSY", errc::busy},
    {"READONLY", errc::read_only},
    {"NOREPLICAS", errc::read_only},
    {"MISCONF", errc::read_only},
    {"NOSCRIPT", errc::no_script},
    {"OOM", errc::out_of_memory},
    {"EXECABORT", errc::transaction_refused},
    {"NOTBUSY", errc::server_error},
    {"ERR", errc::server_error},
}};

}  // namespace

const std::error_category& redis_category() noexcept {
  static const category the_one;
  return the_one;
}

std::error_code make_error_code(errc code) noexcept {
  return {static_cast<int>(code), redis_category()};
}

errc errc_of(const std::string& server_text) noexcept {
  const std::string_view all = server_text;
  const std::string_view first = all.substr(0, all.find(' '));
  for (const auto& [word, code] : first_words) {
    if (first == word) return code;
  }
  // What Redis says of a password where none is needed, or of a user without one, begins with ERR, too.
  return errc::server_error;
}

error::error(errc code, const std::string& what, std::string server_text)
    : std::system_error(what.empty() ? std::system_error(code) : std::system_error(code, what)),
      server_text_(std::move(server_text)) {}

error::error(std::string server_text)
    : std::system_error(errc_of(server_text), server_text), server_text_(std::move(server_text)) {}

error::~error() = default;

}  // namespace tandem::inline v0::io::redis
