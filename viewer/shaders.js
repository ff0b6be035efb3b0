// SPDX-License-Identifier: MIT
// The programs of the GPU. Positions are in the space of the eye, where the scene has size 1 and the eye looks
// along -z. With CUT defined, a program leaves out what the section plane cuts away; without, hidden surfaces
// cost less, because no pixel can be discarded.

const HEAD = `
precision highp float;
precision highp int;
uniform mat4 uProjection;
uniform vec4 uPlane;
uniform vec4 uTint;
uniform vec3 uUp;
uniform vec4 uMode; // x: smooth, y: 0.5 lit faces, 1 ghosts, z: parallel, w: opacity
uniform vec2 uViewport;
#ifdef CUT
bool cut(vec3 p) { return dot(uPlane.xyz, p) + uPlane.w < 0.0; }
#else
#define cut(p) false
#endif
`;

// Sky and ground from above and below, a key light over the left shoulder, a little gloss; rims a bit darker.
// Without pow and normalize: software rasterisers take long for them.
const LIGHT = `
vec3 eyeward(vec3 p) { return uMode.z > 0.5 ? vec3(0.0, 0.0, 1.0) : -p * inversesqrt(dot(p, p)); }
vec3 shade(vec3 base, vec3 n, vec3 p) {
    const vec3 key = vec3(-0.4131, 0.5967, 0.6885), fill = vec3(0.8889, 0.1111, 0.4444);
    vec3 v = eyeward(p), h = key + v;
    float sky = 0.5 + 0.5 * dot(n, uUp);
    float gloss = max(dot(n, h), 0.0);
    gloss = gloss * gloss / dot(h, h);
    gloss *= gloss;
    gloss *= gloss;
    gloss *= gloss;
    gloss *= gloss;
    float rim = min(abs(dot(n, v)) * 2.2, 1.0);
    vec3 light = mix(vec3(0.46, 0.44, 0.44), vec3(0.62, 0.65, 0.69), sky) + 0.44 * max(dot(n, key), 0.0) +
        0.10 * max(dot(n, fill), 0.0);
    base = mix(base, uTint.rgb, uTint.a);
    if (uMode.y > 0.2) light = mix(light, vec3(1.0), 0.6);
    return base * light * (0.76 + 0.24 * rim) + 0.10 * gloss;
}
vec4 ghost(vec3 base, vec3 n, vec3 p) {
    float rim = 1.0 - abs(dot(n, eyeward(p)));
    float a = mix(0.05 * uMode.w, 0.42 * min(uMode.w, 1.0), rim * rim * rim);
    return vec4(mix(base, uTint.rgb, uTint.a) * a, a);
}
`;

export const MESH = {
    vertex: `${HEAD}
layout(location = 0) in vec3 aPosition;
layout(location = 1) in vec3 aNormal;
layout(location = 2) in vec4 aColour;
uniform mat4 uModelView;
uniform mat3 uNormal;
out vec3 vPosition;
out vec3 vNormal;
out vec4 vColour;
void main() {
    vec4 p = uModelView * vec4(aPosition, 1.0);
    vPosition = p.xyz;
    vNormal = uNormal * aNormal;
    vColour = aColour;
    gl_Position = uProjection * p;
}`,
    fragment: `${HEAD}${LIGHT}
in vec3 vPosition;
in vec3 vNormal;
in vec4 vColour;
out vec4 colour;
void main() {
    if (cut(vPosition)) discard;
    vec3 face = cross(dFdx(vPosition), dFdy(vPosition));
    float size = length(face);
    face = size > 0.0 ? face / size : vec3(0.0, 0.0, 1.0);
    vec3 n = face;
    if (uMode.x > 0.5 && dot(vNormal, vNormal) > 0.01) {
        n = normalize(vNormal);
        if (dot(n, face) < 0.0) n = -n;
    }
    if (uMode.y > 0.7) colour = ghost(vColour.rgb, n, vPosition);
    else colour = vec4(shade(vColour.rgb, n, vPosition) * uMode.w, uMode.w);
}`,
};

// Fills what the section plane opens: the part's colour, hatched.
export const CAP = {
    vertex: MESH.vertex,
    fragment: `${HEAD}
in vec3 vPosition;
in vec4 vColour;
out vec4 colour;
void main() {
    float stripe = abs(fract((gl_FragCoord.x + gl_FragCoord.y) / 9.0) - 0.5) * 9.0;
    vec3 base = mix(vColour.rgb, uTint.rgb, uTint.a);
    colour = vec4(base * mix(0.62, 0.86, smoothstep(0.4, 1.2, stripe)), 1.0);
}`,
};

// Lines of one pixel. They come a little nearer, so that they win over the faces that they lie on.
export const EDGE = {
    vertex: `${HEAD}
layout(location = 0) in vec3 aPosition;
uniform mat4 uModelView;
uniform float uNearer;
out vec3 vPosition;
void main() {
    vec4 p = uModelView * vec4(aPosition, 1.0);
    vPosition = p.xyz;
    gl_Position = uProjection * p;
    gl_Position.z -= uNearer * gl_Position.w;
}`,
    fragment: `${HEAD}
in vec3 vPosition;
out vec4 colour;
void main() {
    if (cut(vPosition)) discard;
    colour = vec4(uTint.rgb * uTint.a, uTint.a);
}`,
};

// Data of things that are drawn as two triangles each, six vertices without attributes: software rasterisers
// take long for instances. Texels are counted by rows.
const FETCH = `
vec4 texel(sampler2D data, int i) { int wide = textureSize(data, 0).x; return texelFetch(data, ivec2(i % wide, i / wide), 0); }
vec2 corner() {
    int k = gl_VertexID % 6;
    return vec2(k == 1 || k == 2 || k == 4 ? 1.0 : -1.0, k == 2 || k == 4 || k == 5 ? 1.0 : -1.0);
}
`;

// Lines of any width: two texels per segment.
export const LINE = {
    vertex: `${HEAD}${FETCH}
uniform mat4 uModelView;
uniform highp sampler2D uData;
uniform float uNearer;
uniform float uWidth;
out vec3 vPosition;
void main() {
    int segment = gl_VertexID / 6;
    vec2 place = corner();
    vec4 p = uModelView * vec4(texel(uData, 2 * segment).xyz, 1.0), q = uModelView * vec4(texel(uData, 2 * segment + 1).xyz, 1.0);
    float near = -1e-4;
    if (uMode.z < 0.5) { // cut off what is behind the eye
        if (p.z > near && q.z < near) p = mix(p, q, (near - p.z) / (q.z - p.z));
        if (q.z > near && p.z < near) q = mix(q, p, (near - q.z) / (p.z - q.z));
    }
    vec4 a = uProjection * p, b = uProjection * q;
    vec2 along = (b.xy / b.w - a.xy / a.w) * uViewport;
    float size = length(along);
    along = size > 1e-6 ? along / size : vec2(1.0, 0.0);
    vec4 c = place.x > 0.0 ? b : a;
    vPosition = place.x > 0.0 ? q.xyz : p.xyz;
    c.xy += (vec2(-along.y, along.x) * place.y + along * place.x * 0.25) * uWidth / uViewport * c.w;
    c.z -= uNearer * c.w;
    gl_Position = c;
}`,
    fragment: EDGE.fragment,
};

export const POINT = {
    vertex: `${HEAD}
layout(location = 0) in vec3 aPosition;
layout(location = 2) in vec4 aColour;
uniform mat4 uModelView;
uniform float uNearer;
uniform float uWidth;
out vec3 vPosition;
out vec4 vColour;
void main() {
    vec4 p = uModelView * vec4(aPosition, 1.0);
    vPosition = p.xyz;
    vColour = aColour;
    gl_Position = uProjection * p;
    gl_Position.z -= uNearer * gl_Position.w;
    gl_PointSize = uWidth;
}`,
    fragment: `${HEAD}
in vec3 vPosition;
in vec4 vColour;
out vec4 colour;
void main() {
    if (cut(vPosition)) discard;
    vec2 d = gl_PointCoord * 2.0 - 1.0;
    float r = dot(d, d);
    if (r > 1.0) discard;
    vec3 base = mix(vColour.rgb, uTint.rgb, uTint.a);
    colour = vec4(base * (r > 0.55 ? 0.55 : 1.0) * uMode.w, uMode.w);
}`,
};

// Spheres as ray-cast squares: one texel each, centre and radius. The square faces the eye and covers the
// sphere's outline; each pixel meets the sphere exactly, and writes the depth of that point.
export const SPHERE = {
    vertex: `${HEAD}${FETCH}
layout(location = 2) in vec4 aColour;
uniform mat4 uModelView;
uniform highp sampler2D uData;   // where the spheres are
uniform highp sampler2D uOther;  // where they go
uniform highp sampler2D uColours;
uniform float uScale;  // of radii
uniform vec3 uBetween; // x: how far to uOther, y: longer ways are jumps, z: whether there are colours
flat out vec4 vSphere;
flat out vec4 vColour;
out vec3 vPosition;
void main() {
    int i = gl_VertexID / 6;
    vec4 here = texel(uData, i);
    vec3 at = here.xyz;
    if (uBetween.x > 0.0) {
        vec3 other = texel(uOther, i).xyz, way = other - at;
        at = all(lessThan(abs(way), vec3(uBetween.y))) ? at + way * uBetween.x : uBetween.x < 0.5 ? at : other;
    }
    vec3 c = (uModelView * vec4(at, 1.0)).xyz;
    float r = here.w * uScale;
    vSphere = vec4(c, r);
    vColour = uBetween.z > 0.0 ? texel(uColours, i) : aColour;
    vec2 place = corner();
    vec3 right = vec3(1.0, 0.0, 0.0), up = vec3(0.0, 1.0, 0.0);
    float grow = 1.0;
    if (uMode.z < 0.5) {
        float d2 = dot(c, c);
        grow = d2 > r * r * 1.0001 ? inversesqrt(1.0 - r * r / d2) : 1.0;
        vec3 w = normalize(c);
        right = normalize(cross(w, abs(w.y) < 0.99 ? vec3(0.0, 1.0, 0.0) : vec3(1.0, 0.0, 0.0)));
        up = cross(right, w);
        if (d2 <= r * r * 1.0001) place *= 0.0; // the eye is inside
    }
    vPosition = c + (right * place.x + up * place.y) * r * grow;
    gl_Position = uProjection * vec4(vPosition, 1.0);
}`,
    fragment: `${HEAD}${LIGHT}
flat in vec4 vSphere;
flat in vec4 vColour;
in vec3 vPosition;
out vec4 colour;
void main() {
    vec3 o = uMode.z > 0.5 ? vec3(vPosition.xy, 0.0) : vec3(0.0);
    vec3 d = uMode.z > 0.5 ? vec3(0.0, 0.0, -1.0) : normalize(vPosition);
    vec3 oc = vSphere.xyz - o;
    float along = dot(oc, d);
    vec3 miss = oc - d * along; // from the nearest point of the ray: without cancellation
    float h = vSphere.w * vSphere.w - dot(miss, miss);
    if (h < 0.0) discard;
    float root = sqrt(h), t = along - root;
    vec3 p = o + d * t;
    vec3 n = (p - vSphere.xyz) / vSphere.w;
    bool flatly = false;
    if (cut(p)) { // the cut surface of the sphere lies in the plane
        float slope = dot(uPlane.xyz, d);
        if (slope <= 0.0) discard;
        t = -(dot(uPlane.xyz, o) + uPlane.w) / slope;
        if (t > along + root) discard;
        p = o + d * t;
        flatly = true;
    }
    vec4 clip = uProjection * vec4(p, 1.0);
    gl_FragDepth = clamp(0.5 * clip.z / clip.w + 0.5, 0.0, 1.0);
    vec3 base = vColour.rgb;
    if (uMode.y > 0.7) colour = ghost(base, n, p);
    else colour = vec4((flatly ? base * 0.85 : shade(base, n, p)) * uMode.w, uMode.w);
}`,
};

export const BACKGROUND = {
    vertex: `${HEAD}
out float vHeight;
void main() {
    vec2 corner = vec2((gl_VertexID & 1) != 0 ? 3.0 : -1.0, (gl_VertexID & 2) != 0 ? 3.0 : -1.0);
    vHeight = corner.y * 0.5 + 0.5;
    gl_Position = vec4(corner, 0.0, 1.0);
}`,
    fragment: `${HEAD}
in float vHeight;
out vec4 colour;
uniform vec3 uGround;
void main() {
    float grain = fract(sin(dot(gl_FragCoord.xy, vec2(12.9898, 78.233))) * 43758.5453) / 255.0;
    colour = vec4(mix(uGround, uTint.rgb, smoothstep(0.0, 1.0, vHeight)) + grain, 1.0);
}`,
};

// Puts a picture over what is there: a share of it, to take the mean of several, or where that is 0 what it covers.
export const PICTURE = {
    vertex: BACKGROUND.vertex,
    fragment: `${HEAD}
uniform sampler2D uData;
out vec4 colour;
void main() {
    colour = texture(uData, gl_FragCoord.xy / uViewport);
    if (uTint.a > 0.0) colour.a = uTint.a;
}`,
};
