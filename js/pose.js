// SPDX-License-Identifier: MIT
// Rigid motions. A pose is seven numbers, tx ty tz qw qx qy qz; translations, matrices and what three.js has are taken
// wherever a pose is.
import { invoke, numbers } from "./core.js";
import { motionOf } from "./soup.js";

export const compose = (a, b) => invoke("poseCompose", [a ?? null, b ?? null]);
export const invert = (pose) => invoke("poseInvert", [pose ?? null]);
export const fromAxisAngle = (axis, angle) => invoke("poseFromAxisAngle", [axis, angle]);
export const fromEuler = (roll, pitch, yaw) => invoke("poseFromEuler", [roll, pitch, yaw]);
export const interpolate = (start, end, time) => invoke("poseInterpolate", [start ?? null, end ?? null, time]);
export const motionAt = (motion, time) => invoke("motionEvaluate", [motionOf(motion), time]);

// Row after row, twelve numbers.
export const fromMatrix = (matrix) => invoke("poseFromMatrix", [numbers(matrix, Float64Array, "matrix").slice(0, 12)]);

// Sixteen numbers, row after row.
export function matrix(pose) {
    return Float64Array.of(...invoke("poseToMatrix", [pose ?? null]), 0, 0, 0, 1);
}

// Exactly the positions that queries with this pose use.
export function apply(pose, points) {
    const given = numbers(points, Float64Array, "points", 3);
    return invoke("poseApply", [pose ?? null, given], { moved: given.length / 3 });
}

export function rotate(pose, directions) {
    const given = numbers(directions, Float64Array, "directions", 3);
    return invoke("poseRotate", [pose ?? null, given], { rotated: given.length / 3 });
}
