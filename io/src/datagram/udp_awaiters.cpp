// udp_awaiters.cpp: how the awaits of datagrams end.
// SPDX-License-Identifier: MIT
#include <cstddef>
#include <string>
#include <system_error>
#include <tandem/io/udp_awaiters.hpp>

namespace tandem::inline v0::io {

received_datagram receive_datagram_awaiter::await_resume() {
  end_operation();
  if (operation_.failed()) operation_.throw_failure(operation_.name());
  return received_datagram(batch_->take());
}

result<received_datagram> receive_datagram_awaiter::await_resume_result() {
  end_operation();
  if (operation_.failed()) return operation_.error();
  return received_datagram(batch_->take());
}

received_into receive_into_awaiter::await_resume() {
  end_operation();
  if (operation_.failed()) operation_.throw_failure(operation_.name());
  return {static_cast<std::size_t>(operation_.outcome()), datagram_.peer, datagram_.is_cut};
}

result<received_into> receive_into_awaiter::await_resume_result() {
  end_operation();
  if (operation_.failed()) return operation_.error();
  return received_into(static_cast<std::size_t>(operation_.outcome()), datagram_.peer,
                       datagram_.is_cut);
}

namespace {

/// Why nothing was sent and what to do about it, where that is known here.
///
/// @param each  bytes of a datagram; of a train, of each but the last
std::string advice_on(const std::error_code& error, const endpoint* receiver, std::size_t each,
                      bool is_train) {
  if (error == std::errc::message_size) {
    return " (a datagram of " + std::to_string(each) +
           " bytes: at most 65507 fit, and some 1200 into what every network passes)";
  }
  if (error == std::errc::destination_address_required || error == std::errc::not_connected) {
    return " (the socket is not connected: connect it, or say to whom)";
  }
  if (error == std::errc::permission_denied) {
    return " (a broadcast has to be asked for, by udp_options::broadcast; or a route prohibits it)";
  }
  if (error == std::errc::operation_not_permitted) return " (a firewall of this system forbids it)";
  if (error != std::errc::invalid_argument) return {};
  if (is_train && each == 0) return " (segment_bytes is 0)";
  if (receiver != nullptr && receiver->port() == 0) return " (the receiver has no port)";
  return {};
}

[[noreturn]] void throw_send_failure(const detail::operation& failed, const endpoint* receiver,
                                     std::size_t each, bool is_train = false) {
  std::string what = failed.name();
  if (receiver != nullptr) what += " to " + receiver->to_string();
  what += advice_on(failed.error(), receiver, each, is_train);
  failed.throw_failure(what.c_str());
}

}  // namespace

void send_datagram_awaiter::await_resume() {
  end_operation();
  if (operation_.failed()) {
    throw_send_failure(operation_, datagram_.has_peer ? &datagram_.peer : nullptr, datagram_.bytes);
  }
}

result<void> send_datagram_awaiter::await_resume_result() {
  end_operation();
  if (operation_.failed()) return operation_.error();
  return {};
}

void send_train_awaiter::await_resume() {
  end_operation();
  if (operation_.failed()) {
    throw_send_failure(operation_, train_.has_peer ? &train_.peer : nullptr, train_.segment_bytes,
                       true);
  }
}

result<void> send_train_awaiter::await_resume_result() {
  end_operation();
  if (operation_.failed()) return operation_.error();
  return {};
}

std::size_t send_many_awaiter::await_resume() {
  end_operation();
  if (operation_.failed() && list_.done == 0) {
    // An empty list fails, too: the socket is not open, or the task was stopped before.
    const outgoing_datagram* const first = list_.all.empty() ? nullptr : &list_.all.front();
    throw_send_failure(operation_, first == nullptr ? nullptr : first->receiver(),
                       first == nullptr ? 0 : first->bytes().size());
  }
  return list_.done;
}

result<std::size_t> send_many_awaiter::await_resume_result() {
  end_operation();
  if (operation_.failed() && list_.done == 0) return operation_.error();
  return list_.done;
}

}  // namespace tandem::inline v0::io
