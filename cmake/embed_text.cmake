# SPDX-License-Identifier: Apache-2.0
# Run at build time: OUTPUT becomes a source that defines each of FILES as a string, in NAMESPACE, under its name with
# underscores: page.js as page_js.
set(text "// Made by cmake/embed_text.cmake.\nnamespace ${NAMESPACE} {\n")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  string(REPLACE "." "_" name ${name})
  file(READ ${file} content)
  string(APPEND text "extern const char* const ${name};\nconst char* const ${name} = R\"WTTEXT(${content})WTTEXT\";\n")
endforeach()
string(APPEND text "}  // namespace ${NAMESPACE}\n")
file(WRITE ${OUTPUT} "${text}")
