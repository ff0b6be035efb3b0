/* SPDX-License-Identifier: MIT */
/* xml.h: reads the tags of an XML text one after the other, and their attributes. Text between
 * tags, comments, declarations and CDATA are skipped; nothing is allocated. */
#ifndef CAROM_CLI_XML_H
#define CAROM_CLI_XML_H

#include <stdbool.h>
#include <stddef.h>

typedef struct xml {
    const char *at, *end; /* what is left */
    const char *name;     /* of the tag, not terminated */
    size_t name_size;
    const char *attributes, *attributes_end;
    bool opens, closes; /* <a> opens, </a> closes, <a/> does both */
    size_t line;        /* of the tag, from 1 */
    size_t depth;       /* elements around it */
    bool broken;        /* a tag has no end */
} xml;

void xml_begin(xml *x, const char *text, size_t size);

/* Reads the next tag; false at the end of the text, or when it is broken. */
bool xml_next(xml *x);

bool xml_is(const xml *x, const char *name);

/* Copies the value of an attribute, entities replaced; false when it is not there or longer than
 * size - 1 bytes. */
bool xml_get(const xml *x, const char *name, char *value, size_t size);

#endif
