// parser.cpp: see parser.hpp
// SPDX-License-Identifier: MIT
#include "redis/parser.hpp"

#include <hiredis/read.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <string_view>
#include <utility>

namespace tandem::inline v0::io::redis::detail {

/// What hiredis's reader calls. An array's elements are appended one after the other: the one
/// whose elements are being read is always its array's last, so that no pointer moves meanwhile.
struct builder {
  template <class Make>
  static void* make(const redisReadTask* task, std::size_t bytes, Make value) noexcept {
    auto& self = *static_cast<parser*>(task->privdata);
    try {
      reply* const at = self.place(*task, bytes);
      if (at != nullptr) *at = value();
      return at;
    } catch (...) {  // only memory can lack; no exception passes through C
      self.is_out_of_memory_ = true;
      return nullptr;
    }
  }

  static void* string(const redisReadTask* task, char* text, std::size_t size) noexcept {
    const reply_kind kind = task->type == REDIS_REPLY_ERROR    ? reply_kind::error
                            : task->type == REDIS_REPLY_STATUS ? reply_kind::status
                                                               : reply_kind::string;
    return make(task, size, [&] { return reply(kind, std::string(text, size)); });
  }
  static void* array(const redisReadTask* task, int size) noexcept {
    return make(task, 0, [&] {
      std::vector<reply> room;
      room.reserve(static_cast<std::size_t>(std::clamp(size, 0, 1024)));
      return reply(std::move(room));
    });
  }
  static void* integer(const redisReadTask* task, long long number) noexcept {
    return make(task, 0, [&] { return reply(static_cast<std::int64_t>(number)); });
  }
  static void* nil(const redisReadTask* task) noexcept {
    return make(task, 0, [] { return reply(); });
  }
  static void free(void* /*reply*/) noexcept {}  // all belong to the root

  static redisReplyObjectFunctions functions;
};

redisReplyObjectFunctions builder::functions = {&builder::string, &builder::array,
                                                &builder::integer, &builder::nil, &builder::free};

void parser::give_back::operator()(redisReader* reader) const noexcept { redisReaderFree(reader); }

parser::parser(std::size_t max_reply_bytes)
    : max_bytes_(max_reply_bytes), reader_(redisReaderCreateWithFunctions(&builder::functions)) {
  if (reader_ == nullptr) throw std::bad_alloc();
  reader_->privdata = this;
}

void parser::feed(std::span<const std::byte> bytes) {
  const auto* const text = reinterpret_cast<const char*>(bytes.data());
  if (redisReaderFeed(reader_.get(), text, bytes.size()) != REDIS_OK) fail();
}

std::optional<reply> parser::next() {
  void* made = nullptr;
  if (redisReaderGetReply(reader_.get(), &made) != REDIS_OK) fail();
  if (made == nullptr) {
    refuse_announced();
    return std::nullopt;
  }
  bytes_ = 0;
  return std::move(root_);
}

bool parser::is_inside() const noexcept {
  return reader_->ridx != -1 || reader_->pos < reader_->len;
}

reply* parser::place(const redisReadTask& task, std::size_t bytes) {
  constexpr std::size_t of_element = 64;
  bytes_ += bytes + of_element;
  if (bytes_ > max_bytes_) {
    is_too_large_ = true;
    return nullptr;
  }
  if (task.parent == nullptr) return &root_;
  return &static_cast<reply*>(task.parent->obj)->append(reply());
}

/// A text is read when all of it is there: before that, what is kept grows. Its size stands in
/// front of it.
void parser::refuse_announced() const {
  const redisReader& reader = *reader_;
  const std::string_view rest(reader.buf + reader.pos, reader.len - reader.pos);
  std::size_t size = rest.size();
  if (reader.ridx >= 0 && reader.rstack[reader.ridx].type == REDIS_REPLY_STRING) {
    std::size_t announced = 0;
    const char* const end = rest.data() + rest.size();
    if (std::from_chars(rest.data(), end, announced).ec == std::errc())
      size = std::max(size, announced);
  }
  if (size > max_bytes_ || bytes_ > max_bytes_ - size) {
    throw error(errc::too_large, "an answer of more than " + std::to_string(max_bytes_) + " bytes");
  }
}

void parser::fail() const {
  if (is_too_large_) {
    throw error(errc::too_large, "an answer of more than " + std::to_string(max_bytes_) + " bytes");
  }
  if (is_out_of_memory_ || reader_->err == REDIS_ERR_OOM) throw std::bad_alloc();
  throw error(errc::protocol_error, std::string("hiredis: ") + reader_->errstr);
}

}  // namespace tandem::inline v0::io::redis::detail
