// udp_awaiters.cpp: how the awaits of datagrams end.
// SPDX-License-Identifier: MIT
#include <string>
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

[[noreturn]] void throw_send_failure(const detail::operation& failed, const endpoint* receiver) {
  std::string what = failed.name();
  if (receiver != nullptr) what += " to " + receiver->to_string();
  failed.throw_failure(what.c_str());
}

}  // namespace

void send_datagram_awaiter::await_resume() {
  end_operation();
  if (operation_.failed()) {
    throw_send_failure(operation_, datagram_.has_peer ? &datagram_.peer : nullptr);
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
    throw_send_failure(operation_, train_.has_peer ? &train_.peer : nullptr);
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
    throw_send_failure(operation_, list_.all.empty() ? nullptr : list_.all.front().receiver());
  }
  return list_.done;
}

result<std::size_t> send_many_awaiter::await_resume_result() {
  end_operation();
  if (operation_.failed() && list_.done == 0) return operation_.error();
  return list_.done;
}

}  // namespace tandem::inline v0::io
