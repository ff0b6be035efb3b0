# SPDX-License-Identifier: MIT
# Pages joined from the modules of viewer/, and their bytes as C, into which the tool fills scenes: the viewer,
# build/viewer/viewer.html, that of clash reports, report.html, and the page of `carom demo`, demo.html. Needs only cmake.
file(GLOB viewer_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/viewer/*.js ${PROJECT_SOURCE_DIR}/viewer/demo/*.js)
set(viewer_source ${PROJECT_SOURCE_DIR}/viewer)
set(viewer_page ${PROJECT_BINARY_DIR}/viewer/viewer.html)
set(viewer_bytes ${PROJECT_BINARY_DIR}/viewer/viewer_page.c ${PROJECT_BINARY_DIR}/viewer/demo_page.c
    ${PROJECT_BINARY_DIR}/viewer/report_page.c)

# join_page(NAME ENTRY TEMPLATE STYLE [MORE_STYLE]): build/viewer/NAME.html, and NAME_page.c with cli_NAME_page.
function(join_page name entry template style)
    set(page ${PROJECT_BINARY_DIR}/viewer/${name})
    list(TRANSFORM ARGN PREPEND ${viewer_source}/ OUTPUT_VARIABLE more)
    add_custom_command(OUTPUT ${page}.html ${page}_page.c
        COMMAND ${CMAKE_COMMAND} -DENTRY=${viewer_source}/${entry} -DSTYLE=${viewer_source}/${style}
                -DMORE_STYLE=${more} -DTEMPLATE=${viewer_source}/${template} -DPAGE=${page}.html
                -DBYTES=${page}_page.c -DSYMBOL=cli_${name}_page -P ${viewer_source}/join.cmake
        DEPENDS ${viewer_sources} ${viewer_source}/${style} ${more} ${viewer_source}/${template}
                ${viewer_source}/join.cmake
        VERBATIM)
endfunction()
join_page(viewer main.js template.html viewer.css)
join_page(demo demo/demo.js demo/demo.html demo/demo.css)
join_page(report report_page.js template.html viewer.css report.css) # with what only clash reports need
add_custom_target(carom_viewer DEPENDS ${viewer_page} ${viewer_bytes})
