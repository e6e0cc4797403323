// peers_support.hpp: laws about every foreign program, in every version of TLS.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "io/tls/conversation.hpp"

namespace tandem::test {

inline const auto every_peer =
    ::testing::Values(peer_kind::s_server, peer_kind::gnutls_serv, peer_kind::s_client,
                      peer_kind::gnutls_cli, peer_kind::curl);
inline const auto every_version = ::testing::Values(tls::version::tls1_2, tls::version::tls1_3);

class peer_test : public ::testing::TestWithParam<std::tuple<peer_kind, tls::version>> {
 protected:
  static peer_kind kind() { return std::get<0>(GetParam()); }
  static tls::version version() { return std::get<1>(GetParam()); }
  static peer_request request() { return {kind(), version()}; }

  void SetUp() override { TANDEM_NEEDS_PROGRAM(program_of(kind())); }
};

inline std::string name_of_peer(const ::testing::TestParamInfo<peer_test::ParamType>& of) {
  return name_of(std::get<0>(of.param)) + "_" + name_of(std::get<1>(of.param));
}

}  // namespace tandem::test
