# cmake -DINPUT=file -DOUTPUT=header -DNAME=symbol -P embed.cmake
# Writes a header that holds the file's bytes as `inline constexpr unsigned char symbol[]`, aligned as flatbuffers wants.
file(READ "${INPUT}" hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "((0x..,){24})" "\\1\n" bytes "${bytes}")
file(WRITE "${OUTPUT}" "#pragma once\n\nalignas(16) inline constexpr unsigned char ${NAME}[] = {\n${bytes}\n};\n")
