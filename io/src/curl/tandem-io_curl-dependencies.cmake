# What a user of tandem::io_curl needs besides it; included by tandem-config.cmake, which reads _tandem_kind and gets back
# _tandem_reason. The shared library has libcurl linked in; the static one leaves that to the final link.
if(_tandem_kind STREQUAL "static" AND NOT TARGET PkgConfig::libcurl)
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(libcurl QUIET IMPORTED_TARGET GLOBAL "libcurl >= 7.87")
  endif()
  if(NOT TARGET PkgConfig::libcurl)
    set(_tandem_reason "the static tandem::io_curl needs libcurl >= 7.87 (Debian: apt-get install libcurl4-openssl-dev)")
  endif()
endif()
