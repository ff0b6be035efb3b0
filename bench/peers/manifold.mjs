// SPDX-License-Identifier: MIT
// Serves manifold.cpp: a mesh comes in, then poses (12 doubles, a 3 x 4 matrix row by row); for each
// the volume of the mesh's intersection with itself in that pose goes out. The package is found in
// bench/peers/node_modules: npm install --no-save --prefix bench/peers manifold-3d
import {readSync, writeSync} from 'fs';
import Module from 'manifold-3d';

function take(size) { // bytes from standard input, or null at its end
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size;) {
    let got = 0;
    try {
      got = readSync(0, bytes, at, size - at);
    } catch (error) {
      if (error.code === 'EAGAIN') continue;
      throw error;
    }
    if (got === 0) return null;
    at += got;
  }
  return bytes.buffer;
}

function put(number) {
  writeSync(1, new Uint8Array(new Float64Array([number]).buffer));
}

const wasm = await Module();
wasm.setup();
const [vertices, triangles] = new Uint32Array(take(8));
const vertProperties = new Float32Array(take(12 * vertices));
const triVerts = new Uint32Array(take(12 * triangles));
const solid = new wasm.Manifold(new wasm.Mesh({numProp: 3, vertProperties, triVerts}));
if (solid.isEmpty()) process.exit(1);
put(1);
for (let bytes; (bytes = take(96)) !== null;) {
  const m = new Float64Array(bytes);
  const columns = [];
  for (let k = 0; k < 4; ++k) columns.push(m[k], m[4 + k], m[8 + k], k === 3 ? 1 : 0);
  const moved = solid.transform(columns);
  const both = solid.intersect(moved);
  put(both.volume());
  both.delete();
  moved.delete();
}
