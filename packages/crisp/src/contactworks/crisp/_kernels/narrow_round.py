"""Contacts among spheres, capsules and boxes where one shape is round.

Each contact is the exact contact of two spheres, or of a sphere and a box: a capsule is the union
of the spheres along its segment, so a finite set of them (closest pair, ends, ends of the overlap)
holds the whole line contact without a special case for parallel axes.
Rows and return values are as in ``narrow_plane``; the normal points from the first to the second.
"""

from __future__ import annotations

import math

from contactworks.common._jit import kernel

_SAME_POINT = 1e-9
_BREAK_ROWS = 4  # of seven numbers: two ends, six crossings, at most fifteen kinks


@kernel
def _sphere_pair(ax, ay, az, ra, bx, by, bz, rb, margin, out, count):
    """Add the contact of two spheres; concentric ones get the normal +z."""
    dx = bx - ax
    dy = by - ay
    dz = bz - az
    distance = math.sqrt(dx * dx + dy * dy + dz * dz)
    gap = distance - ra - rb
    if gap > margin or count >= out.shape[0]:
        return count
    if distance > 1e-12:
        nx = dx / distance
        ny = dy / distance
        nz = dz / distance
    else:
        nx = 0.0
        ny = 0.0
        nz = 1.0
    shift = ra + 0.5 * gap
    px = ax + shift * nx
    py = ay + shift * ny
    pz = az + shift * nz
    for k in range(count):
        if (
            abs(out[k, 0] - px) < _SAME_POINT
            and abs(out[k, 1] - py) < _SAME_POINT
            and abs(out[k, 2] - pz) < _SAME_POINT
        ):
            return count
    out[count, 0] = px
    out[count, 1] = py
    out[count, 2] = pz
    out[count, 3] = nx
    out[count, 4] = ny
    out[count, 5] = nz
    out[count, 6] = gap
    return count + 1


@kernel
def sphere_sphere(a, size_a, b, size_b, margin, out):
    """One point."""
    p = a.position
    q = b.position
    count = _sphere_pair(p[0], p[1], p[2], size_a[0], q[0], q[1], q[2], size_b[0], margin, out, 0)
    return count, 1


@kernel
def _segment_parameter(capsule, half, px, py, pz):
    """Return the parameter in [-half, half] of the segment's point nearest to p."""
    c = capsule.position
    r = capsule.rotation
    s = r[0, 2] * (px - c[0]) + r[1, 2] * (py - c[1]) + r[2, 2] * (pz - c[2])
    return min(max(s, -half), half)


@kernel
def _segment_point(capsule, s):
    c = capsule.position
    r = capsule.rotation
    return c[0] + s * r[0, 2], c[1] + s * r[1, 2], c[2] + s * r[2, 2]


@kernel
def sphere_capsule(sphere, size_s, capsule, size_c, margin, out):
    """One point."""
    p = sphere.position
    s = _segment_parameter(capsule, size_c[1], p[0], p[1], p[2])
    qx, qy, qz = _segment_point(capsule, s)
    return _sphere_pair(p[0], p[1], p[2], size_s[0], qx, qy, qz, size_c[0], margin, out, 0), 1


@kernel
def capsule_capsule(a, size_a, b, size_b, margin, out):
    """The ends of both segments against the other, and the closest pair."""
    ra = size_a[0]
    rb = size_b[0]
    ha = size_a[1]
    hb = size_b[1]
    count = 0
    for sign in (-1.0, 1.0):
        px, py, pz = _segment_point(a, sign * ha)
        qx, qy, qz = _segment_point(b, _segment_parameter(b, hb, px, py, pz))
        count = _sphere_pair(px, py, pz, ra, qx, qy, qz, rb, margin, out, count)
        qx, qy, qz = _segment_point(b, sign * hb)
        px, py, pz = _segment_point(a, _segment_parameter(a, ha, qx, qy, qz))
        count = _sphere_pair(px, py, pz, ra, qx, qy, qz, rb, margin, out, count)
    cosine = 0.0
    along_a = 0.0
    along_b = 0.0
    for k in range(3):
        d = b.position[k] - a.position[k]
        cosine += a.rotation[k, 2] * b.rotation[k, 2]
        along_a += a.rotation[k, 2] * d
        along_b += b.rotation[k, 2] * d
    sine2 = 1.0 - cosine * cosine
    if sine2 > 1e-12:
        s = min(max((along_a - cosine * along_b) / sine2, -ha), ha)
        px, py, pz = _segment_point(a, s)
        t = _segment_parameter(b, hb, px, py, pz)
        qx, qy, qz = _segment_point(b, t)
        s = _segment_parameter(a, ha, qx, qy, qz)
        px, py, pz = _segment_point(a, s)
        count = _sphere_pair(px, py, pz, ra, qx, qy, qz, rb, margin, out, count)
    return count, 2


@kernel
def _ball_box(px, py, pz, radius, box, size, margin, out, count):
    """Add the contact of a ball with a box, normal from the ball to the box."""
    c = box.position
    r = box.rotation
    dx = px - c[0]
    dy = py - c[1]
    dz = pz - c[2]
    lx = r[0, 0] * dx + r[1, 0] * dy + r[2, 0] * dz
    ly = r[0, 1] * dx + r[1, 1] * dy + r[2, 1] * dz
    lz = r[0, 2] * dx + r[1, 2] * dy + r[2, 2] * dz
    qx = min(max(lx, -size[0]), size[0])
    qy = min(max(ly, -size[1]), size[1])
    qz = min(max(lz, -size[2]), size[2])
    ex = lx - qx
    ey = ly - qy
    ez = lz - qz
    distance = math.sqrt(ex * ex + ey * ey + ez * ez)
    if distance > 1e-12:
        ex /= distance
        ey /= distance
        ez /= distance
    else:  # the centre is inside: leave by the nearest face
        fx = size[0] - abs(lx)
        fy = size[1] - abs(ly)
        fz = size[2] - abs(lz)
        ex = 0.0
        ey = 0.0
        ez = 0.0
        if fx <= fy and fx <= fz:
            ex = 1.0 if lx >= 0.0 else -1.0
            distance = -fx
        elif fy <= fz:
            ey = 1.0 if ly >= 0.0 else -1.0
            distance = -fy
        else:
            ez = 1.0 if lz >= 0.0 else -1.0
            distance = -fz
    gap = distance - radius
    if gap > margin or count >= out.shape[0]:
        return count
    # e points from the box to the ball.
    nx = -(r[0, 0] * ex + r[0, 1] * ey + r[0, 2] * ez)
    ny = -(r[1, 0] * ex + r[1, 1] * ey + r[1, 2] * ez)
    nz = -(r[2, 0] * ex + r[2, 1] * ey + r[2, 2] * ez)
    shift = radius + 0.5 * gap
    x = px + shift * nx
    y = py + shift * ny
    z = pz + shift * nz
    for k in range(count):
        if (
            abs(out[k, 0] - x) < _SAME_POINT
            and abs(out[k, 1] - y) < _SAME_POINT
            and abs(out[k, 2] - z) < _SAME_POINT
        ):
            return count
    out[count, 0] = x
    out[count, 1] = y
    out[count, 2] = z
    out[count, 3] = nx
    out[count, 4] = ny
    out[count, 5] = nz
    out[count, 6] = gap
    return count + 1


@kernel
def sphere_box(sphere, size_s, box, size_b, margin, out):
    """One point."""
    p = sphere.position
    return _ball_box(p[0], p[1], p[2], size_s[0], box, size_b, margin, out, 0), 1


@kernel
def _distance_slope(lx, ly, lz, dx, dy, dz, size, s):
    """Return half the derivative of the squared distance to the box along the segment."""
    x = lx + s * dx
    y = ly + s * dy
    z = lz + s * dz
    ex = x - min(max(x, -size[0]), size[0])
    ey = y - min(max(y, -size[1]), size[1])
    ez = z - min(max(z, -size[2]), size[2])
    return ex * dx + ey * dy + ez * dz


@kernel
def _axis_depth(lx, ly, lz, dx, dy, dz, size, s):
    """Return how far a point of the axis is from the box along the worst face normal [m].

    Inside the box it is the signed distance.
    """
    return max(abs(lx + s * dx) - size[0], abs(ly + s * dy) - size[1], abs(lz + s * dz) - size[2])


@kernel
def _add_depth_kinks(breaks, total, lx, ly, lz, dx, dy, dz, size, half):
    """Add the parameters at which the axis, inside the box, changes its nearest face.

    The depth along the axis is convex and piecewise linear, so its deepest point is among them.
    """
    for p in range(6):
        for q in range(p + 1, 6):
            kp = p // 2
            kq = q // 2
            sp = 1.0 - 2.0 * (p % 2)
            sq = 1.0 - 2.0 * (q % 2)
            slope = sp * (dx if kp == 0 else (dy if kp == 1 else dz)) - sq * (
                dx if kq == 0 else (dy if kq == 1 else dz)
            )
            if abs(slope) < 1e-12:
                continue
            lift = sq * (lx if kq == 0 else (ly if kq == 1 else lz)) - sp * (
                lx if kp == 0 else (ly if kp == 1 else lz)
            )
            s = (lift - size[kq] + size[kp]) / slope
            if not -half < s < half:
                continue
            depth = _axis_depth(lx, ly, lz, dx, dy, dz, size, s)
            own = (
                sp * (lx + s * dx if kp == 0 else (ly + s * dy if kp == 1 else lz + s * dz))
                - size[kp]
            )
            if depth < 0.0 and depth - own < 1e-12:
                breaks[total] = s
                total += 1
    return total


@kernel
def capsule_box(capsule, size_c, box, size_b, margin, out):
    """Balls of the capsule against the box: ends, box boundaries crossed, nearest or deepest point.

    The squared distance to a box is convex and piecewise quadratic along the segment, with breaks
    where the segment crosses a face plane; its derivative is linear between breaks.
    """
    c = box.position
    r = box.rotation
    half = size_c[1]
    ox = capsule.position[0] - c[0]
    oy = capsule.position[1] - c[1]
    oz = capsule.position[2] - c[2]
    ax = capsule.rotation[0, 2]
    ay = capsule.rotation[1, 2]
    az = capsule.rotation[2, 2]
    lx = r[0, 0] * ox + r[1, 0] * oy + r[2, 0] * oz
    ly = r[0, 1] * ox + r[1, 1] * oy + r[2, 1] * oz
    lz = r[0, 2] * ox + r[1, 2] * oy + r[2, 2] * oz
    dx = r[0, 0] * ax + r[1, 0] * ay + r[2, 0] * az
    dy = r[0, 1] * ax + r[1, 1] * ay + r[2, 1] * az
    dz = r[0, 2] * ax + r[1, 2] * ay + r[2, 2] * az

    # Parameters: both ends, and every crossing of a face plane inside the segment. The rows of
    # ``out`` beyond the contacts serve as scratch for them.
    breaks = out[out.shape[0] - _BREAK_ROWS :].reshape(-1)
    breaks[0] = -half
    breaks[1] = half
    total = 2
    for k in range(3):
        start = lx if k == 0 else (ly if k == 1 else lz)
        slope = dx if k == 0 else (dy if k == 1 else dz)
        if abs(slope) < 1e-12:
            continue
        for sign in (-1.0, 1.0):
            s = (sign * size_b[k] - start) / slope
            if -half < s < half:
                breaks[total] = s
                total += 1
    for i in range(total):
        if _axis_depth(lx, ly, lz, dx, dy, dz, size_b, breaks[i]) <= 1e-12:
            total = _add_depth_kinks(breaks, total, lx, ly, lz, dx, dy, dz, size_b, half)
            break
    for i in range(1, total):  # insertion sort
        value = breaks[i]
        j = i - 1
        while j >= 0 and breaks[j] > value:
            breaks[j + 1] = breaks[j]
            j -= 1
        breaks[j + 1] = value

    count = 0
    rows = out[: out.shape[0] - _BREAK_ROWS]
    for i in range(total):
        px, py, pz = _segment_point(capsule, breaks[i])
        count = _ball_box(px, py, pz, size_c[0], box, size_b, margin, rows, count)
    low = _distance_slope(lx, ly, lz, dx, dy, dz, size_b, breaks[0])
    for i in range(1, total):
        high = _distance_slope(lx, ly, lz, dx, dy, dz, size_b, breaks[i])
        if low < 0.0 < high:
            s = breaks[i - 1] + (breaks[i] - breaks[i - 1]) * low / (low - high)
            px, py, pz = _segment_point(capsule, s)
            count = _ball_box(px, py, pz, size_c[0], box, size_b, margin, rows, count)
        low = high
    return count, 2
