// engine.hpp: one connection of OpenSSL's, which never waits: it says what it waits for.
// SPDX-License-Identifier: MIT
#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <tandem/io/any_stream.hpp>
#include <tandem/io/tls/errors.hpp>
#include <tandem/io/tls/tls_stream.hpp>
#include <utility>

#include "tls/handles.hpp"
#include "tls/transport.hpp"

namespace tandem::inline v0::io::detail {

class tls_generation;

/// What one of the engine's steps has come to.
enum class tls_step : std::uint8_t {
  done,      ///< of a handshake; of reading: bytes have come
  ended,     ///< of reading: the peer has said close_notify
  reads,     ///< more has to come from the stream below
  yields,    ///< of reading: there is more, but others are to have their turn first
  computes,  ///< of a handshake: what comes next takes long (engine::pause_before_computing)
  failed,    ///< failure() says by what
};

/// Whoever calls a member holds the lock of the connection, on one thread, but where something else
/// is said. What a member has produced lies in transport().output().
class tls_engine {
 public:
  /// @param options   kept until the end
  /// @param name      of the server, for a client; "" for a server
  /// @param what      what a failure's text begins with
  /// @throws          tls::error (bad_option): the name cannot be one; std::bad_alloc
  tls_engine(any_stream& below, std::shared_ptr<tls_generation> options, const std::string& name,
             std::string what);
  tls_engine(const tls_engine&) = delete;
  tls_engine& operator=(const tls_engine&) = delete;
  ~tls_engine();

  /// From now on a handshake stops once before its expensive part: the signature of a server, the
  /// check of the server's certificate. One that resumes a session has no such part.
  void pause_before_computing() noexcept { may_pause_ = true; }
  /// For callbacks. @returns whether the handshake has to stop here: once
  bool takes_pause() noexcept { return std::exchange(may_pause_, false); }
  tls_step handshake();
  /// For callbacks: a certificate that is not accepted. `text` describes it, for the failure's words.
  void refused(std::string text) noexcept { refused_ = std::move(text); }

  /// @param count  how many bytes have come
  tls_step decrypt(std::span<std::byte> buffer, std::size_t& count);
  /// All of it, or nothing.
  ///
  /// @param failure  why it failed
  /// @returns        done, failed, or reads: the peer is in the midst of a message, whose rest has to
  ///                 come first
  tls_step encrypt(std::span<const std::byte> bytes, std::exception_ptr& failure);
  /// The peer is in the midst of a message of TLS's own.
  bool is_amid_message() const noexcept { return SSL_in_init(connection_.get()) == 1; }
  /// Adds close_notify to the output, once.
  void say_goodbye() noexcept;
  /// @throws  tls::error (failed)
  void update_keys(bool of_peer_too);

  /// After `failed`: what reading fails by from then on.
  std::exception_ptr failure() const noexcept { return failure_; }
  /// The stream below has failed: so does all reading.
  void fail_for_good(std::exception_ptr failure) noexcept { failure_ = std::move(failure); }
  tls::session_details details() const;
  tls_transport& transport() noexcept { return transport_; }
  tls_generation& options() const noexcept { return *options_; }
  const std::string& server_name() const noexcept { return name_; }

  /// For OpenSSL's callbacks. pre: it is a connection of ours
  static tls_engine& of(const SSL* connection) noexcept;

 private:
  /// Before OpenSSL is asked to read or to write.
  void begin_step() noexcept;
  /// `ended` and `computes` included. @param failure  what it has failed by, if so
  tls_step step_after(int answer, std::exception_ptr& failure);
  static void count_message(int is_sent, int version, int type, const void* bytes, std::size_t size,
                            SSL* connection, void* self);
  tls::error ended_early() const;
  void say_what_is_owed() noexcept;
  tls_step wait_or_fail(std::exception_ptr& failure) const;
  /// Nothing of the peer was understood yet.
  bool waits_for_first_message() const noexcept;
  void begin_client(const std::string& name);

  std::shared_ptr<tls_generation> options_;
  tls_transport transport_;
  connection_handle connection_;  // goes before the transport, to which its BIO leads
  std::string name_;              // of a client: what its sessions are kept under
  std::string what_;
  std::string refused_;  // the certificate of the peer's that was not accepted, in words
  std::exception_ptr failure_;
  bool may_pause_ = false;
  bool has_said_goodbye_ = false;
  bool owes_goodbye_ = false;  // it could not be said in the midst of a message of the peer's
  bool owes_update_ = false;   // likewise
  bool owed_of_peer_too_ = false;
  bool is_broken_ = false;      // by an error of TLS itself: then the session is not resumed
  bool has_met_ = false;        // the handshake is over
  unsigned idle_messages_ = 0;  // since application data came last
  bool reads_ahead_ = false;
};

}  // namespace tandem::inline v0::io::detail
