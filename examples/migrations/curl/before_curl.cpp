// before_curl.cpp: many downloads by curl's multi socket interface on a loop of epoll, as its manual describes it.
// SPDX-License-Identifier: MIT
//
// curl says by a callback which sockets it waits for, and by another one until when; the loop tells it what is ready.
#include <curl/curl.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>
#include <memory>
#include <system_error>

#include "job.hpp"

namespace {

using namespace migrations;

void check(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
}

struct close_easy {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};

/// What curl's callbacks need of one download.
struct transfer {
  download* into = nullptr;
  std::unique_ptr<CURL, close_easy> easy;
  std::array<char, CURL_ERROR_SIZE> words{};
};

class downloader {
 public:
  explicit downloader(job& asked) : asked_(asked), places_(asked.at_once) {
    check(epoll_ = ::epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
    check(timer_ = ::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "timerfd_create");
    epoll_event wanted{};
    wanted.events = EPOLLIN;
    wanted.data.fd = timer_;
    check(::epoll_ctl(epoll_, EPOLL_CTL_ADD, timer_, &wanted), "epoll_ctl");
    multi_ = curl_multi_init();
    if (multi_ == nullptr) throw std::bad_alloc();
    curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &downloader::socket_wanted);
    curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &downloader::time_wanted);
    curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(asked.at_once));
  }
  downloader(const downloader&) = delete;
  downloader& operator=(const downloader&) = delete;
  ~downloader() {
    for (transfer& each : places_) {
      if (each.into != nullptr) curl_multi_remove_handle(multi_, each.easy.get());
    }
    curl_multi_cleanup(multi_);
    ::close(timer_);
    ::close(epoll_);
  }

  void run() {
    for (transfer& each : places_) start_next(each);
    while (under_way_ > 0) {
      std::array<epoll_event, 64> events{};
      const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      if (count < 0 && errno == EINTR) continue;
      check(count, "epoll_wait");
      for (int i = 0; i < count; ++i) {
        const epoll_event& event = events[static_cast<std::size_t>(i)];
        if (event.data.fd == timer_) {
          std::uint64_t often = 0;
          if (::read(timer_, &often, sizeof often) > 0) act(CURL_SOCKET_TIMEOUT, 0);
          continue;
        }
        int what = 0;
        if ((event.events & (EPOLLIN | EPOLLHUP)) != 0) what |= CURL_CSELECT_IN;
        if ((event.events & EPOLLOUT) != 0) what |= CURL_CSELECT_OUT;
        if ((event.events & EPOLLERR) != 0) what |= CURL_CSELECT_ERR;
        act(event.data.fd, what);
      }
      if (failed_ != 0) throw std::system_error(failed_, std::generic_category(), "a callback");
    }
  }

 private:
  void start_next(transfer& place) {
    place.into = nullptr;
    if (next_ == asked_.downloads.size()) return;
    place.into = &asked_.downloads[next_++];
    if (place.easy == nullptr) place.easy.reset(curl_easy_init());
    CURL* const easy = place.easy.get();
    if (easy == nullptr) throw std::bad_alloc();
    curl_easy_reset(easy);
    place.words[0] = '\0';
    curl_easy_setopt(easy, CURLOPT_URL, place.into->url.c_str());
    curl_easy_setopt(easy, CURLOPT_PRIVATE, &place);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, place.words.data());
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &downloader::has_come);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, place.into);
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(easy, CURLOPT_MAXREDIRS, 10L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(asked_.limit.count()));
    const CURLMcode code = curl_multi_add_handle(multi_, easy);
    if (code != CURLM_OK) throw std::runtime_error(curl_multi_strerror(code));
    ++under_way_;
  }

  void act(curl_socket_t socket, int what) {
    int running = 0;
    const CURLMcode code = curl_multi_socket_action(multi_, socket, what, &running);
    if (code != CURLM_OK) throw std::runtime_error(curl_multi_strerror(code));
    int left = 0;
    while (const CURLMsg* const message = curl_multi_info_read(multi_, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      CURL* const easy = message->easy_handle;
      const CURLcode outcome = message->data.result;
      transfer* done = nullptr;
      curl_easy_getinfo(easy, CURLINFO_PRIVATE, &done);
      if (outcome == CURLE_OK) {
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &done->into->status);
      } else {
        const bool has_words = done->words[0] != '\0';
        done->into->failure = done->into->url + ": ";
        done->into->failure += has_words ? done->words.data() : curl_easy_strerror(outcome);
      }
      curl_multi_remove_handle(multi_, easy);
      --under_way_;
      start_next(*done);
    }
  }

  // No exception may pass through curl.
  static int socket_wanted(CURL* /*easy*/, curl_socket_t socket, int what, void* self,
                           void* known) noexcept {
    auto& me = *static_cast<downloader*>(self);
    if (what == CURL_POLL_REMOVE) {
      ::epoll_ctl(me.epoll_, EPOLL_CTL_DEL, socket, nullptr);  // it may be closed already
      return 0;
    }
    epoll_event wanted{};
    if (what != CURL_POLL_OUT) wanted.events |= EPOLLIN;
    if (what != CURL_POLL_IN) wanted.events |= EPOLLOUT;
    wanted.data.fd = socket;
    const int verb = known == nullptr ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    if (::epoll_ctl(me.epoll_, verb, socket, &wanted) != 0) me.failed_ = errno;
    curl_multi_assign(me.multi_, socket, self);
    return 0;
  }
  static int time_wanted(CURLM* /*multi*/, long milliseconds, void* self) noexcept {
    auto& me = *static_cast<downloader*>(self);
    itimerspec when{};  // all zero: none
    if (milliseconds > 0) {
      when.it_value.tv_sec = milliseconds / 1000;
      when.it_value.tv_nsec = milliseconds % 1000 * 1'000'000;
    } else if (milliseconds == 0) {
      when.it_value.tv_nsec = 1;
    }
    if (::timerfd_settime(me.timer_, 0, &when, nullptr) != 0) me.failed_ = errno;
    return 0;
  }
  static std::size_t has_come(char* bytes, std::size_t one, std::size_t count,
                              void* into) noexcept {
    static_cast<download*>(into)->take({bytes, one * count});
    return one * count;
  }

  job& asked_;
  std::vector<transfer> places_;
  std::size_t next_ = 0;
  std::size_t under_way_ = 0;
  int failed_ = 0;
  int epoll_ = -1;
  int timer_ = -1;
  CURLM* multi_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    job asked(argc, argv);
    downloader(asked).run();
    asked.print();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "before: %s\n", error.what());
    return 1;
  }
}
