# SPDX-License-Identifier: Apache-2.0
# cmake -DSPV=<module.spv> -DOUTPUT=<file> -P spirv_words.cmake: writes the module's words for an array initializer.
file(READ "${SPV}" bytes HEX)
string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1,\n" words "${bytes}")
file(WRITE "${OUTPUT}" "${words}")
