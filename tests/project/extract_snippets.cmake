# The C++ of the documentation as one source file: cmake -DROOT=... -DFILES="README.md;docs/a.md" -DOUT=snippets.cpp -P this
#
# Every block that is fenced as cpp stands in a namespace of its own, its #includes before all of them. A comment on the line before
# the fence, which no page shows, says what else there is to know:
#
#   <!-- cpp: given const float* x, std::size_t n -->   statements, that use these
#   <!-- cpp: given nothing -->                         statements
#   <!-- cpp: from src/autograd/ops/elementwise.cpp -->   an excerpt, compiled where it stands: snippets_test.cpp compares the two
#
# A complaint of the compiler names the page and the line.
cmake_policy(VERSION 3.25)

set(includes "#include \"addnorm/addnorm.h\"\n#include <iostream>\n")
set(blocks "")
set(count 0)
foreach(file IN LISTS FILES)
  file(READ ${ROOT}/${file} rest)
  set(line 1)
  string(FIND "${rest}" "```cpp\n" at)
  while(NOT at EQUAL -1)
    string(SUBSTRING "${rest}" 0 ${at} before)
    math(EXPR at "${at} + 7")
    string(SUBSTRING "${rest}" ${at} -1 rest)
    string(FIND "${rest}" "\n```" end)
    if(end EQUAL -1)
      message(FATAL_ERROR "${file}: a block of C++ is not closed")
    endif()
    math(EXPR end "${end} + 1")
    string(SUBSTRING "${rest}" 0 ${end} code)
    string(SUBSTRING "${rest}" ${end} -1 rest)

    string(REGEX REPLACE "[^\n]" "" breaks "${before}")
    string(LENGTH "${breaks}" breaks)
    math(EXPR line "${line} + ${breaks} + 1")
    set(marker "")
    if(before MATCHES "<!-- cpp: ([^\n]*) -->\n$")
      set(marker "${CMAKE_MATCH_1}")
    endif()

    if(marker MATCHES "^from [^ ]+$")
    elseif(marker STREQUAL "" OR marker MATCHES "^given ")
      math(EXPR count "${count} + 1")
      string(REGEX MATCHALL "#include [^\n]*\n" own "${code}")
      list(JOIN own "" own)
      string(APPEND includes "${own}")
      string(REGEX REPLACE "#include [^\n]*" "" code "${code}")
      set(open "namespace snippet_${count} {")
      set(close "}")
      if(marker STREQUAL "given nothing")
        string(APPEND open " void run() {")
        set(close "}}")
      elseif(marker MATCHES "^given (.*)")
        string(APPEND open " void run(${CMAKE_MATCH_1}) {")
        set(close "}}")
      elseif("\n${code}" MATCHES "\nnamespace ")  # it says itself where it stands
        set(open "")
        set(close "")
      endif()
      string(APPEND blocks "\n${open}\n#line ${line} \"${file}\"\n${code}${close}\n")
    else()
      message(FATAL_ERROR "${file}:${line}: '<!-- cpp: ${marker} -->' is not understood; there are: given ..., from FILE")
    endif()

    string(REGEX REPLACE "[^\n]" "" breaks "${code}")
    string(LENGTH "${breaks}" breaks)
    math(EXPR line "${line} + ${breaks}")
    string(FIND "${rest}" "```cpp\n" at)
  endwhile()
endforeach()
file(WRITE ${OUT} "// Made from the documentation by tests/project/extract_snippets.cmake.\n${includes}${blocks}")
