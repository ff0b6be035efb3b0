/* SPDX-License-Identifier: MIT */
/* cases.h: cases from the shared folder, as JSON of known form. */
#ifndef CAROM_TESTS_CASES_H
#define CAROM_TESTS_CASES_H

/* A file as text, to be freed; NULL when it is not there. */
char *cases_read(const char *path);

/* The place after "key": in this text, where it must be. */
const char *cases_after_key(const char *text, const char *key);

#endif
