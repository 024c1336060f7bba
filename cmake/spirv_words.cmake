# SPDX-License-Identifier: Apache-2.0
# cmake -DSPV=<module.spv> -DOUTPUT=<file> -P spirv_words.cmake: the module's words, as an initializer takes them.
file(READ "${SPV}" bytes HEX)
string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1,\n" words "${bytes}")
file(WRITE "${OUTPUT}" "${words}")
