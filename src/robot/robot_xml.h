/* SPDX-License-Identifier: MIT */
/* robot_xml.h: reads the tags of an XML text one after the other, and their attributes. Text
 * between
 * tags, comments, declarations and CDATA are skipped; nothing is allocated.
 *
 * The text must be whole: one root element, every tag closed by one of the same name, attributes in
 * quotes. Text that is cut short is an error with its line, never the end. */
#ifndef CAROM_SRC_ROBOT_ROBOT_XML_H
#define CAROM_SRC_ROBOT_ROBOT_XML_H

#include <stdbool.h>
#include <stddef.h>

#define CAROM_XML_MOST_DEPTH                                                                       \
    100 /* elements in each other; robots have 6, with simulators' data 12 */

/* An element that is open. */
typedef struct carom_xml_element {
    const char *name;
    size_t name_size;
    size_t line;
} carom_xml_element;

typedef struct carom_xml {
    const char *at, *end; /* what is left */
    const char *name;     /* of the tag, not terminated */
    size_t name_size;
    const char *attributes, *attributes_end;
    bool opens, closes; /* <a> opens, </a> closes, <a/> does both */
    size_t line;        /* where the tag begins, from 1 */
    size_t depth;       /* elements around it */
    carom_xml_element open[CAROM_XML_MOST_DEPTH];
    size_t here;     /* the line of `at` */
    bool has_root;   /* the root was read, or is being read */
    char error[200]; /* what is wrong and what to do; "": nothing */
    size_t error_line;
} carom_xml;

void carom_xml_begin(carom_xml *x, const char *text, size_t size);

/* Reads the next tag; false at the end of the text, or where it is wrong: there is an error then.
 */
bool carom_xml_next(carom_xml *x);

bool carom_xml_is(const carom_xml *x, const char *name);

/* Copies the value of an attribute, entities replaced; false when it is not there or longer than
 * size - 1 bytes. carom_xml_has tells these apart. */
bool carom_xml_get(const carom_xml *x, const char *name, char *value, size_t size);
bool carom_xml_has(const carom_xml *x, const char *name);

#endif
