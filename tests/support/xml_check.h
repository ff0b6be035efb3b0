/* SPDX-License-Identifier: MIT */
/* xml_check.h: whether text is well-formed XML, as far as our pictures use it. */
#ifndef CAROM_TESTS_XML_CHECK_H
#define CAROM_TESTS_XML_CHECK_H

/* Tags nest and are closed, attributes are quoted, text has no bare < or &. Returns the number of
 * elements with that name. */
int check_xml(const char *at, const char *wanted);

#endif
