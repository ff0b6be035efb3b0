// SPDX-License-Identifier: MIT
// Where the package is: its modules and workers lie beside this file. Bundles for classic scripts replace it.
export const HERE = import.meta.url;
