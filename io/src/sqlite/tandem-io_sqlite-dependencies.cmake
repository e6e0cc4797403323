# What a user of tandem::io_sqlite needs besides it; included by tandem-config.cmake, which reads _tandem_kind and gets back
# _tandem_reason. The shared library has SQLite linked in; the static one leaves that to the final link.
if(_tandem_kind STREQUAL "static")
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(sqlite3 QUIET IMPORTED_TARGET sqlite3>=3.40)
  endif()
  if(NOT TARGET PkgConfig::sqlite3)
    set(_tandem_reason "the static tandem::io_sqlite needs SQLite >= 3.40, found by pkg-config (Debian: apt-get install libsqlite3-dev pkg-config)")
  endif()
endif()
