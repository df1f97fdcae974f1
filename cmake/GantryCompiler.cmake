# How every target of the tree is compiled: C++20 and C11, warnings as errors, sanitizers, ccache.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ${GANTRY_LTO})
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

# A row of a table may leave out its last fields, and a struct of the ABI those that came later.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers -Werror -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Both report code of g++ 12's own std::string and std::vector when that is inlined.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict> $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized>)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  add_compile_options(-gz)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()

if(GANTRY_SANITIZE)
  add_compile_options(-fsanitize=${GANTRY_SANITIZE} -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=${GANTRY_SANITIZE})
endif()

find_program(CCACHE_PROGRAM ccache)
mark_as_advanced(CCACHE_PROGRAM)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CCACHE_PROGRAM}")
endif()
