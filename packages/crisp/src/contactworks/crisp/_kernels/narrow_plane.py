"""Contacts of a plane with a sphere, capsule, box or cylinder.

Every function writes rows (position, normal from the plane to the shape, gap) for all points of the
manifold within the margin and returns their number and the size of the full manifold, over which a
pair's stiffness is shared. The plane is z = 0 of its frame, its normal +z.
"""

from __future__ import annotations

import math

from contactworks.common._jit import kernel

_UPRIGHT = 1e-9  # sine of the tilt below which any point of a rim is its lowest


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
    """The exact lowest point of each rim; while it stands, seven more evenly around the rim.

    The ring turns with the lowest point, so that its forces change smoothly when it rocks. A lying
    cylinder has its two lowest points alone: others would brake its rolling, as each is led below
    the plane by the tangent of its path. The stiffness is shared over the eight points of a rim,
    or over the two lowest ones.
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
    if radial > _UPRIGHT:
        nx *= size[0] / radial
        ny *= size[0] / radial
    else:
        nx = size[0]
        ny = 0.0
    points = 8 if stands else 1
    count = 0
    for end in (-1.0, 1.0):
        z = end * size[1]
        for k in range(points):
            cosine = math.cos(0.25 * math.pi * k)
            sine = math.sin(0.25 * math.pi * k)
            x = cosine * nx - sine * ny
            y = sine * nx + cosine * ny
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
    return count, points if stands else 2
