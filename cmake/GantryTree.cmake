# The build tree is laid out like an installed one, so that the executable finds everything relative to itself:
#   bin/gantry   lib/gantry/plugins/   lib/gantry/runtimes/   share/gantry/configs/

set(GANTRY_BIN_DIR "${PROJECT_BINARY_DIR}/bin")
set(GANTRY_PLUGIN_DIR "${PROJECT_BINARY_DIR}/lib/gantry/plugins")
set(GANTRY_RUNTIME_DIR "${PROJECT_BINARY_DIR}/lib/gantry/runtimes")

file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/lib/gantry" "${PROJECT_BINARY_DIR}/share/gantry")
file(CREATE_LINK "${GANTRY_DEPS}/runtimes" "${GANTRY_RUNTIME_DIR}" SYMBOLIC)
file(CREATE_LINK "${PROJECT_SOURCE_DIR}/configs" "${PROJECT_BINARY_DIR}/share/gantry/configs" SYMBOLIC)

install(DIRECTORY "${PROJECT_SOURCE_DIR}/configs/" DESTINATION share/gantry/configs FILES_MATCHING PATTERN "*.toml")
