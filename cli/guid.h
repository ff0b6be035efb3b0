/* SPDX-License-Identifier: MIT */
/* guid.h: names as UUIDs of version 5 (RFC 9562). */
#ifndef CAROM_CLI_GUID_H
#define CAROM_CLI_GUID_H

#include <stddef.h>

#define GUID_SIZE 37 /* letters of a UUID and the zero */

/* The UUID of a name in a namespace of 16 bytes, in lower case. */
void guid_make(const unsigned char space[16], const void *name, size_t size, char guid[GUID_SIZE]);

#endif
