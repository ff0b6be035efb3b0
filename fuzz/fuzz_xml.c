/* SPDX-License-Identifier: MIT */
/* The reader of XML tags: any bytes. Tags, names and attributes lie in the text, lines do not
 * decrease, every element that opens is closed, or there is an error with its line, and the reader
 * ends. */
#include "fuzz/fuzz.h"
#include "robot/robot_xml.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    const char *text = (const char *)bytes;
    static carom_xml x;
    size_t line = 1, tags = 0, open = 0;
    char value[16];
    carom_xml_begin(&x, text, size);
    while (carom_xml_next(&x)) {
        FUZZ_CHECK(x.name >= text && x.name + x.name_size <= text + size);
        FUZZ_CHECK(x.attributes >= x.name && x.attributes_end <= text + size);
        FUZZ_CHECK(x.opens || x.closes);
        FUZZ_CHECK(x.line >= line && ++tags <= size);
        line = x.line;
        FUZZ_CHECK(x.opens ? x.depth == open : x.depth + 1 == open);
        open += (size_t)(x.opens && !x.closes) - (size_t)(!x.opens);
        (void)carom_xml_is(&x, "link");
        if (carom_xml_get(&x, "name", value, sizeof(value)))
            FUZZ_CHECK(strlen(value) < sizeof(value));
    }
    FUZZ_CHECK(*x.error != '\0' ? x.error_line > 0 : open == 0 && tags != 0);
    FUZZ_CHECK(!carom_xml_next(&x)); /* it stays at the end */
    return 0;
}
