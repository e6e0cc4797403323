// answer_stream.cpp: the header, chunks, and the end of an answer in pieces.
// SPDX-License-Identifier: MIT
#include "answer_stream.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include <tandem/timeout.hpp>

namespace service {

namespace {

tandem::task<void> write_text(tandem::io::any_stream& stream, const std::string& text) {
  co_await stream.write_all(tandem::io::bytes_of(text));
}

}  // namespace

tandem::task<void> answer_stream::begin(const http_request& request, std::string_view content_type,
                                        bool keep_alive) {
  has_begun_ = true;
  is_head_ = request.method == http_method::head;
  is_chunked_ = !request.is_http_1_0;
  keeps_alive_ = keep_alive && (is_chunked_ || is_head_);
  text_.clear();
  append_stream_header(text_, content_type, is_chunked_, keeps_alive_);
  co_await send();
}

tandem::task<void> answer_stream::write(std::string_view piece) {
  if (is_head_) co_return;
  text_.clear();
  if (is_chunked_) fmt::format_to(std::back_inserter(text_), "{:x}\r\n", piece.size());
  text_ += piece;
  if (is_chunked_) text_ += "\r\n";
  co_await send();
}

tandem::task<void> answer_stream::end() {
  if (is_head_ || !is_chunked_) co_return;
  text_ = "0\r\n\r\n";
  co_await send();
}

tandem::task<void> answer_stream::send() {
  tandem::task<void> writing = write_text(client_, text_);
  co_await tandem::with_timeout(piece_time_, std::move(writing));
}

}  // namespace service
