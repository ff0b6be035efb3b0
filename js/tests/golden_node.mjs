// SPDX-License-Identifier: MIT
// Usage: node golden_node.mjs PACKAGE [THREADS [MODULE]]. The golden hashes in Node.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { compare } from "./golden.js";

const [folder, threads = "1", module] = process.argv.slice(2);
const carom = await import(pathToFileURL(`${folder}/index.js`));
await carom.init({ threads: Number(threads), ...(module ? { module: readFileSync(module) } : {}) });
const { lines, failed } = compare(carom, readFileSync(new URL("../../tests/golden/web.txt", import.meta.url), "utf8"));
console.log(lines.join("\n"));
process.exit(failed ? 1 : 0);
