# SPDX-License-Identifier: Apache-2.0
# cmake -P script, run by every build: writes OUTPUT, the header that shoal/comm/build_info.cpp
# includes. It is rewritten only when the sources, the version, the compiler or the flags change, so
# a commit alone relinks nothing; the revision is that of the build which last saw a change.
# Arguments: SOURCE_DIR OUTPUT VERSION BUILD_TYPE COMPILER FLAGS

file(GLOB_RECURSE sources RELATIVE ${SOURCE_DIR}
  ${SOURCE_DIR}/shoal/*.hpp ${SOURCE_DIR}/shoal/*.cpp)
list(SORT sources)
set(text "${VERSION};${BUILD_TYPE};${COMPILER};${FLAGS}")
foreach(source IN LISTS sources)
  file(SHA256 ${SOURCE_DIR}/${source} hash)
  string(APPEND text ";${source}=${hash}")
endforeach()
string(SHA256 hash "${text}")
string(SUBSTRING ${hash} 0 16 hash)

if(EXISTS ${OUTPUT})
  file(STRINGS ${OUTPUT} unchanged REGEX "SHOAL_DATA_HASH \"${hash}\"")
  if(unchanged)
    return()
  endif()
endif()

set(revision unknown)
find_program(git git)
if(git AND EXISTS ${SOURCE_DIR}/.git)
  execute_process(COMMAND ${git} log -1 --format=%h --abbrev=10 -- shoal
    WORKING_DIRECTORY ${SOURCE_DIR}
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND ${git} status --porcelain -- shoal
    WORKING_DIRECTORY ${SOURCE_DIR} OUTPUT_VARIABLE changes ERROR_QUIET)
  if(commit)
    set(revision ${commit})
    if(changes)
      string(APPEND revision "+changes")
    endif()
  endif()
endif()

file(WRITE ${OUTPUT} "// SPDX-License-Identifier: Apache-2.0
#pragma once
#define SHOAL_DATA_VERSION \"${VERSION}\"
#define SHOAL_DATA_HASH \"${hash}\"
#define SHOAL_DATA_REVISION \"${revision}\"
#define SHOAL_DATA_BUILD_TYPE \"${BUILD_TYPE}\"
#define SHOAL_DATA_COMPILER \"${COMPILER}\"
")
