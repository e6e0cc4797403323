# What a user of tandem::io_tls needs besides it; included by tandem-config.cmake, which reads _tandem_kind and gets back
# _tandem_reason. The shared library has OpenSSL linked in; the static one leaves that to the final link.
if(_tandem_kind STREQUAL "static")
  find_package(OpenSSL 3.0 QUIET)
  if(NOT OPENSSL_FOUND)
    set(_tandem_reason "the static tandem::io_tls needs OpenSSL >= 3.0 (Debian: apt-get install libssl-dev)")
  endif()
endif()
