// SPDX-License-Identifier: MIT
// A script for Node: where does a mesh cross itself, and what encloses it? node node.mjs [MESH]
import { readFile } from "node:fs/promises";
import { init, Mesh, Soup } from "carom";

await init();
const [path] = process.argv.slice(2);
const mesh = path ? Mesh.fromBytes(await readFile(path), { name: path }).weld() : Mesh.shape("cloth", { detail: 224 });
const report = mesh.inspect();
console.log(`${report.triangles} triangles, ${report.closed ? `closed, volume ${report.volume}` : `${report.openEdges} open edges`}`);

const soup = new Soup(mesh);
const pairs = soup.selfPairs();
console.log(`${pairs.length / 2} pairs of faces meet`);
for (const { pair, p } of [...soup.segments(pairs.slice(0, 6))].slice(0, 3)) console.log(`faces ${pair.join(" and ")} at ${p.join(", ")}`);
