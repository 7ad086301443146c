# include(path/to/monarc_embedded.cmake) adds the library `monarc_embedded`; link it to the program
# that is to be profiled:
#
#     target_link_libraries(app PRIVATE monarc_embedded)
#     target_compile_options(app PRIVATE -pg)
#
# The recorder is compiled for the same machine, without instrumentation. MONARC_EMBEDDED_OPTIONS is
# a list of settings, such as MONARC_MEMORY_BYTES=8192.
if(EXISTS ${CMAKE_CURRENT_LIST_DIR}/monarc_embedded.c)
  set(_monarc_sources ${CMAKE_CURRENT_LIST_DIR}/monarc_embedded.c)
  set(_monarc_include ${CMAKE_CURRENT_LIST_DIR})
else()
  set(_monarc_sources)
  foreach(_monarc_part profile calls sample gmon frames coverage semihosting instrument stub_arm
                       stub_call stub_x86)
    list(APPEND _monarc_sources ${CMAKE_CURRENT_LIST_DIR}/${_monarc_part}.c)
  endforeach()
  set(_monarc_include ${CMAKE_CURRENT_LIST_DIR}/../../include)
endif()
add_library(monarc_embedded OBJECT ${_monarc_sources})
target_include_directories(monarc_embedded PUBLIC ${_monarc_include})
target_compile_definitions(monarc_embedded PUBLIC ${MONARC_EMBEDDED_OPTIONS})
target_compile_options(monarc_embedded PRIVATE -Os -ffreestanding -ffunction-sections)
