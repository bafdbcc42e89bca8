"""Contacts of a plane with a sphere, capsule, box or cylinder.

Every function writes rows (position, normal from the plane to the shape, gap) for all points of the
manifold within the margin and returns their number and the size of the full manifold, over which a
pair's stiffness is shared. The plane is z = 0 of its frame, its normal +z.
"""

from __future__ import annotations

import math

from contactworks.common._jit import kernel

_UPRIGHT = 1e-5  # sine of the tilt below which the fixed points of a rim stand for its lowest one


@kernel
def _emit(plane, px, py, pz, radius, margin, out, count):
    """Add the point p of the shape, grown by a radius, if it is within the margin."""
    nx = plane.rotation[0, 2]
    ny = plane.rotation[1, 2]
    nz = plane.rotation[2, 2]
    height = (
        nx * (px - plane.position[0])
        + ny * (py - plane.position[1])
        + nz * (pz - plane.position[2])
    )
    gap = height - radius
    if gap > margin or count >= out.shape[0]:
        return count
    shift = radius + 0.5 * gap  # halfway between the two surfaces
    out[count, 0] = px - shift * nx
    out[count, 1] = py - shift * ny
    out[count, 2] = pz - shift * nz
    out[count, 3] = nx
    out[count, 4] = ny
    out[count, 5] = nz
    out[count, 6] = gap
    return count + 1


@kernel
def plane_sphere(plane, sphere, size, margin, out):
    """One point."""
    p = sphere.position
    return _emit(plane, p[0], p[1], p[2], size[0], margin, out, 0), 1


@kernel
def plane_capsule(plane, capsule, size, margin, out):
    """The two ends of the axis, each a sphere."""
    p = capsule.position
    axis = capsule.rotation
    count = 0
    for sign in (-1.0, 1.0):
        s = sign * size[1]
        count = _emit(
            plane,
            p[0] + s * axis[0, 2],
            p[1] + s * axis[1, 2],
            p[2] + s * axis[2, 2],
            size[0],
            margin,
            out,
            count,
        )
    return count, 2


@kernel
def plane_box(plane, box, size, margin, out):
    """The corners of the box: exact for any tilt. A face holds four of them."""
    p = box.position
    r = box.rotation
    count = 0
    for corner in range(8):
        x = size[0] if corner & 1 else -size[0]
        y = size[1] if corner & 2 else -size[1]
        z = size[2] if corner & 4 else -size[2]
        count = _emit(
            plane,
            p[0] + r[0, 0] * x + r[0, 1] * y + r[0, 2] * z,
            p[1] + r[1, 0] * x + r[1, 1] * y + r[1, 2] * z,
            p[2] + r[2, 0] * x + r[2, 1] * y + r[2, 2] * z,
            0.0,
            margin,
            out,
            count,
        )
    return count, 4


@kernel
def plane_cylinder(plane, cylinder, size, margin, out):
    """The exact lowest point of each rim, and eight points fixed on each rim while it stands.

    The fixed points keep a standing cylinder's manifold still; the lowest points are exact when it
    rolls or rocks. A lying cylinder has those two alone: fixed points would brake its rolling, as
    each is led below the plane by the tangent of its path. Upright to 1e-5 it has the fixed points
    alone, since a soft lowest point that jumps from side to side would shake it. The stiffness is
    shared over the points of a rim, or over the two lowest points.
    """
    p = cylinder.position
    r = cylinder.rotation
    # The direction towards the plane in the cylinder's frame.
    nx = -(r[0, 0] * plane.rotation[0, 2] + r[1, 0] * plane.rotation[1, 2]
           + r[2, 0] * plane.rotation[2, 2])  # fmt: skip
    ny = -(r[0, 1] * plane.rotation[0, 2] + r[1, 1] * plane.rotation[1, 2]
           + r[2, 1] * plane.rotation[2, 2])  # fmt: skip
    radial = math.sqrt(nx * nx + ny * ny)
    stands = 2.0 * radial * radial <= 1.0  # the axis is nearer to the normal than to the plane
    count = 0
    for end in (-1.0, 1.0):
        z = end * size[1]
        for k in range(9):
            if k < 8 and not stands:
                continue
            if k < 8:
                angle = 0.25 * math.pi * k
                x = size[0] * math.cos(angle)
                y = size[0] * math.sin(angle)
            elif radial > _UPRIGHT:
                x = size[0] * nx / radial
                y = size[0] * ny / radial
            else:
                continue
            count = _emit(
                plane,
                p[0] + r[0, 0] * x + r[0, 1] * y + r[0, 2] * z,
                p[1] + r[1, 0] * x + r[1, 1] * y + r[1, 2] * z,
                p[2] + r[2, 0] * x + r[2, 1] * y + r[2, 2] * z,
                0.0,
                margin,
                out,
                count,
            )
    if not stands:
        return count, 2
    return count, 9 if radial > _UPRIGHT else 8
