# The third-party packages: Debian's, and those that scripts/setup.sh puts into GANTRY_DEPS.

set(default_deps .deps)
if(DEFINED ENV{GANTRY_DEPS})
  set(default_deps "$ENV{GANTRY_DEPS}")
endif()
cmake_path(ABSOLUTE_PATH default_deps BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
set(GANTRY_DEPS "${default_deps}" CACHE PATH "The prefix that scripts/setup.sh made")
if(NOT EXISTS "${GANTRY_DEPS}/onnx")
  message(FATAL_ERROR "${GANTRY_DEPS} does not hold the dependencies: run scripts/setup.sh first")
endif()

find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)

# Static, so that a plugin that brings its own protobuf cannot abort the host: two copies of one shared library
# would share one registry of message types.
set(Protobuf_USE_STATIC_LIBS ON)
find_package(Protobuf REQUIRED)
target_link_libraries(protobuf::libprotobuf INTERFACE ZLIB::ZLIB)
find_package(ONNX REQUIRED CONFIG PATHS "${GANTRY_DEPS}/onnx" NO_DEFAULT_PATH)
find_path(PROTOZERO_INCLUDE_DIR protozero/pbf_reader.hpp REQUIRED)

find_package(FlatBuffers REQUIRED CONFIG)
find_package(Boost REQUIRED COMPONENTS filesystem)
find_package(tomlplusplus REQUIRED CONFIG)
find_package(nlohmann_json REQUIRED CONFIG)
find_package(spdlog REQUIRED CONFIG)
find_package(CLI11 REQUIRED CONFIG)

if(GANTRY_BUILD_TESTS)
  find_package(GTest REQUIRED CONFIG)
endif()
if(GANTRY_BUILD_BENCHMARKS)
  find_package(benchmark REQUIRED CONFIG)
endif()
