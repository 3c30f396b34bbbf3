# SPDX-License-Identifier: Apache-2.0
# Run by wt_embed at build time.
set(text "// Made by cmake/embed_files.cmake from the headers it names.\n#include \"compile/embedded_headers.h\"\n\nnamespace wt::compile {\n\nconst std::vector<EmbeddedHeader>& embedded_headers() {\n  static const std::vector<EmbeddedHeader> headers = {\n")
foreach(file IN LISTS FILES)
  file(RELATIVE_PATH name ${ROOT} ${file})
  file(READ ${file} content)
  string(APPEND text "      {\"${name}\", R\"WTHEADER(${content})WTHEADER\"},\n")
endforeach()
string(APPEND text "  };\n  return headers;\n}\n\n}  // namespace wt::compile\n")
file(WRITE ${OUTPUT} "${text}")
