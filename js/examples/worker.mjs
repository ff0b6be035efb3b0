// SPDX-License-Identifier: MIT
// Long work in a worker: promises, progress and cancel. The same code runs in a page.
import { Cancelled, startWorker } from "carom";

const carom = await startWorker();
const mesh = await carom.call("Mesh.shape", "knot");
const packing = carom.create("Packing", mesh, { count: 500 });
packing.onProgress = (what, fraction) => console.log(`${what}: ${Math.round(100 * fraction)} %`);
console.log(`${(await (await packing).info()).spheres} spheres`);

const long = carom.create("Packing", mesh, { count: 1000000 });
setTimeout(() => long.cancel(), 200);
await long.catch((error) => console.log(error instanceof Cancelled ? "cancelled, as asked" : error));
carom.end();
