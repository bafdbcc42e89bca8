"""Box against box: separating axis test, then a clipped face manifold, then an edge point.

The face manifold is always sent, each point with its own gap, so that the set of points does not
jump when boxes rock. An edge point is added when an edge axis separates overlapping boxes better
than any face; separated boxes get their nearest points where the clipping lost them. Gaps of the
face points are never below the best separation, so that no depth is invented.
"""

from __future__ import annotations

import math

from contactworks.common._jit import kernel

_PARALLEL = 1e-6  # squared sine below which an edge axis is skipped
_EXACTLY_PARALLEL = 1e-12
_EDGE_GAIN = 1e-6  # metres by which an edge axis must beat the faces
_SAME_GAP = 1e-9  # metres
_CLIP_SLACK = 1e-5  # aligned faces must not lose corners to rounding


@kernel
def _clip(polygon, count, work, axis, limit):
    """Clip a polygon in place against |axis coordinate| <= limit; return its corner count."""
    for sign in (-1.0, 1.0):
        kept = 0
        for i in range(count):
            j = i + 1 if i + 1 < count else 0
            di = limit - sign * polygon[i, axis]
            dj = limit - sign * polygon[j, axis]
            if di >= 0.0:
                for k in range(3):
                    work[kept, k] = polygon[i, k]
                kept += 1
            if (di < 0.0) != (dj < 0.0):
                t = di / (di - dj)
                for k in range(3):
                    work[kept, k] = polygon[i, k] + t * (polygon[j, k] - polygon[i, k])
                kept += 1
        count = kept
        for i in range(count):
            for k in range(3):
                polygon[i, k] = work[i, k]
        if count == 0:
            break
    return count


@kernel
def _face_manifold(ref, size_r, axis, sign, inc, size_i, floor, flip, margin, out, scratch):
    """Write the incident face clipped to the reference face; return (points, polygon corners).

    The normal is ``sign`` times axis ``axis`` of ``ref``, from ref to inc; ``flip`` is -1 when the
    reference is the second box.
    """
    polygon = scratch[:16, :3]
    work = scratch[16:32, :3]
    # Incident face: the one most opposed to the normal.
    best = 0
    largest = -1.0
    facing = 1.0
    for k in range(3):
        d = 0.0
        for m in range(3):
            d += inc.rotation[m, k] * ref.rotation[m, axis]
        d *= sign
        if abs(d) > largest + 1e-12:
            largest = abs(d)
            best = k
            facing = -1.0 if d > 0.0 else 1.0
    u = (best + 1) % 3
    v = (best + 2) % 3
    for corner in range(4):
        su = size_i[u] if corner == 1 or corner == 2 else -size_i[u]
        sv = size_i[v] if corner >= 2 else -size_i[v]
        wx = inc.position[0] - ref.position[0]
        wy = inc.position[1] - ref.position[1]
        wz = inc.position[2] - ref.position[2]
        f = facing * size_i[best]
        wx += inc.rotation[0, best] * f + inc.rotation[0, u] * su + inc.rotation[0, v] * sv
        wy += inc.rotation[1, best] * f + inc.rotation[1, u] * su + inc.rotation[1, v] * sv
        wz += inc.rotation[2, best] * f + inc.rotation[2, u] * su + inc.rotation[2, v] * sv
        for k in range(3):
            polygon[corner, k] = (
                ref.rotation[0, k] * wx + ref.rotation[1, k] * wy + ref.rotation[2, k] * wz
            )
    corners = _clip(polygon, 4, work, (axis + 1) % 3, size_r[(axis + 1) % 3] + _CLIP_SLACK)
    if corners > 0:
        corners = _clip(
            polygon, corners, work, (axis + 2) % 3, size_r[(axis + 2) % 3] + _CLIP_SLACK
        )
    count = 0
    for i in range(corners):
        gap = max(sign * polygon[i, axis] - size_r[axis], floor)
        if gap > margin:
            continue
        # Halfway between the incident point and the reference face.
        polygon[i, axis] = sign * (size_r[axis] + 0.5 * gap)
        for k in range(3):
            out[count, k] = ref.position[k] + (
                ref.rotation[k, 0] * polygon[i, 0]
                + ref.rotation[k, 1] * polygon[i, 1]
                + ref.rotation[k, 2] * polygon[i, 2]
            )
            out[count, 3 + k] = flip * sign * ref.rotation[k, axis]
        out[count, 6] = gap
        count += 1
    return count, corners


@kernel
def _edge_point(a, size_a, i, b, size_b, j, nx, ny, nz, gap, out, row):
    """Write the point between edge i of a and edge j of b that support the normal n.

    Returns whether the nearest points of the two lines lie inside both edges.
    """
    pa0 = a.position[0]
    pa1 = a.position[1]
    pa2 = a.position[2]
    pb0 = b.position[0]
    pb1 = b.position[1]
    pb2 = b.position[2]
    for k in range(3):
        if k != i:
            d = nx * a.rotation[0, k] + ny * a.rotation[1, k] + nz * a.rotation[2, k]
            s = size_a[k] if d > 0.0 else -size_a[k]
            pa0 += s * a.rotation[0, k]
            pa1 += s * a.rotation[1, k]
            pa2 += s * a.rotation[2, k]
        if k != j:
            d = nx * b.rotation[0, k] + ny * b.rotation[1, k] + nz * b.rotation[2, k]
            s = -size_b[k] if d > 0.0 else size_b[k]
            pb0 += s * b.rotation[0, k]
            pb1 += s * b.rotation[1, k]
            pb2 += s * b.rotation[2, k]
    cosine = 0.0
    along_a = 0.0
    along_b = 0.0
    for k in range(3):
        d = (pb0 - pa0) if k == 0 else ((pb1 - pa1) if k == 1 else (pb2 - pa2))
        cosine += a.rotation[k, i] * b.rotation[k, j]
        along_a += a.rotation[k, i] * d
        along_b += b.rotation[k, j] * d
    sine2 = max(1.0 - cosine * cosine, _EXACTLY_PARALLEL)
    s = (along_a - cosine * along_b) / sine2
    t = (cosine * along_a - along_b) / sine2
    inside = abs(s) <= size_a[i] and abs(t) <= size_b[j]
    s = min(max(s, -size_a[i]), size_a[i])
    t = min(max(t, -size_b[j]), size_b[j])
    out[row, 0] = 0.5 * (pa0 + s * a.rotation[0, i] + pb0 + t * b.rotation[0, j])
    out[row, 1] = 0.5 * (pa1 + s * a.rotation[1, i] + pb1 + t * b.rotation[1, j])
    out[row, 2] = 0.5 * (pa2 + s * a.rotation[2, i] + pb2 + t * b.rotation[2, j])
    out[row, 3] = nx
    out[row, 4] = ny
    out[row, 5] = nz
    out[row, 6] = gap
    return inside


@kernel
def _edge_overlap(size_a, i, size_b, j, ca, cosines):
    """Return (centre distance, reach) of the boxes along a_i x b_j, times the sine of the edges."""
    i1 = (i + 1) % 3
    i2 = (i + 2) % 3
    j1 = (j + 1) % 3
    j2 = (j + 2) % 3
    projection = ca[i2] * cosines[i1, j] - ca[i1] * cosines[i2, j]
    reach = (
        size_a[i1] * abs(cosines[i2, j])
        + size_a[i2] * abs(cosines[i1, j])
        + size_b[j1] * abs(cosines[i, j2])
        + size_b[j2] * abs(cosines[i, j1])
    )
    return projection, reach


@kernel
def _edge_normal(a, i, b, j, projection):
    """Return the unit normal along a_i x b_j from a to b, and the sine of the edges."""
    x = a.rotation[1, i] * b.rotation[2, j] - a.rotation[2, i] * b.rotation[1, j]
    y = a.rotation[2, i] * b.rotation[0, j] - a.rotation[0, i] * b.rotation[2, j]
    z = a.rotation[0, i] * b.rotation[1, j] - a.rotation[1, i] * b.rotation[0, j]
    sine = math.sqrt(x * x + y * y + z * z)
    scale = (1.0 if projection >= 0.0 else -1.0) / sine
    return scale * x, scale * y, scale * z, sine


@kernel
def _best_edge(a, size_a, b, size_b, ca, cosines, margin):
    """Return (separation, i, j, normal) of the best edge axis; separation > margin ends early."""
    best = -1e300
    bi = -1
    bj = -1
    towards = 0.0
    for i in range(3):
        for j in range(3):
            sine2 = 1.0 - cosines[i, j] * cosines[i, j]
            if sine2 < _PARALLEL:
                continue
            projection, reach = _edge_overlap(size_a, i, size_b, j, ca, cosines)
            separation = (abs(projection) - reach) / math.sqrt(sine2)
            if separation > best:
                best = separation
                bi = i
                bj = j
                towards = projection
                if best > margin:
                    return best, bi, bj, 0.0, 0.0, 0.0
    if bi < 0:
        return best, bi, bj, 0.0, 0.0, 0.0
    nx, ny, nz, _ = _edge_normal(a, bi, b, bj, towards)
    return best, bi, bj, nx, ny, nz


@kernel
def _nearest_corner(ref, size_r, inc, size_i, flip, nearest, out, row):
    """Write the nearest corner of inc to ref if it is nearer than ``nearest``; return the distance.

    The boxes are disjoint. ``flip`` is -1 when ref is the second box.
    """
    for corner in range(8):
        x = size_i[0] if corner & 1 else -size_i[0]
        y = size_i[1] if corner & 2 else -size_i[1]
        z = size_i[2] if corner & 4 else -size_i[2]
        wx = inc.position[0] - ref.position[0]
        wy = inc.position[1] - ref.position[1]
        wz = inc.position[2] - ref.position[2]
        wx += inc.rotation[0, 0] * x + inc.rotation[0, 1] * y + inc.rotation[0, 2] * z
        wy += inc.rotation[1, 0] * x + inc.rotation[1, 1] * y + inc.rotation[1, 2] * z
        wz += inc.rotation[2, 0] * x + inc.rotation[2, 1] * y + inc.rotation[2, 2] * z
        ex = 0.0  # from the nearest point of ref to the corner
        ey = 0.0
        ez = 0.0
        for k in range(3):
            along = ref.rotation[0, k] * wx + ref.rotation[1, k] * wy + ref.rotation[2, k] * wz
            rest = along - min(max(along, -size_r[k]), size_r[k])
            ex += rest * ref.rotation[0, k]
            ey += rest * ref.rotation[1, k]
            ez += rest * ref.rotation[2, k]
        distance = math.sqrt(ex * ex + ey * ey + ez * ez)
        if distance < nearest:
            nearest = distance
            out[row, 0] = ref.position[0] + wx - 0.5 * ex
            out[row, 1] = ref.position[1] + wy - 0.5 * ey
            out[row, 2] = ref.position[2] + wz - 0.5 * ez
            out[row, 3] = flip * ex / distance
            out[row, 4] = flip * ey / distance
            out[row, 5] = flip * ez / distance
            out[row, 6] = distance
    return nearest


@kernel
def _nearest_edges(a, size_a, b, size_b, ca, cosines, nearest, out, row):
    """Write the nearest pair of edges if it is nearer than ``nearest``; return the distance.

    Two edges whose nearest points lie inside both support their common normal, so that each pair of
    directions has one candidate, as far away as its axis separates.
    """
    for i in range(3):
        for j in range(3):
            if 1.0 - cosines[i, j] * cosines[i, j] < _EXACTLY_PARALLEL:
                continue
            projection, reach = _edge_overlap(size_a, i, size_b, j, ca, cosines)
            nx, ny, nz, sine = _edge_normal(a, i, b, j, projection)
            separation = (abs(projection) - reach) / sine
            if 0.0 < separation < nearest and _edge_point(
                a, size_a, i, b, size_b, j, nx, ny, nz, separation, out, row + 1
            ):
                nearest = separation
                for k in range(7):
                    out[row, k] = out[row + 1, k]
    return nearest


@kernel
def _add_nearest(a, size_a, b, size_b, ca, cosines, floor, margin, out, count):
    """Add the nearest points of two separated boxes; return the number of points.

    The face points hold the exact distance unless the nearest corner was clipped.
    """
    nearest = math.inf
    for row in range(count):
        nearest = min(nearest, out[row, 6])
    if nearest <= floor + _SAME_GAP:
        return count
    found = _nearest_corner(a, size_a, b, size_b, 1.0, nearest, out, count)
    found = _nearest_corner(b, size_b, a, size_a, -1.0, found, out, count)
    found = _nearest_edges(a, size_a, b, size_b, ca, cosines, found, out, count)
    return count + 1 if found < nearest and found <= margin else count


@kernel
def box_box(a, size_a, b, size_b, margin, out, scratch):
    """Up to eight face points and one edge point."""
    cosines = scratch[32:35, :3]
    ca = scratch[35, :3]  # centre of b in a's axes
    cb = scratch[36, :3]  # the same vector in b's axes
    for i in range(3):
        ca[i] = 0.0
        cb[i] = 0.0
        for k in range(3):
            d = b.position[k] - a.position[k]
            ca[i] += a.rotation[k, i] * d
            cb[i] += b.rotation[k, i] * d
        for j in range(3):
            cosines[i, j] = (
                a.rotation[0, i] * b.rotation[0, j]
                + a.rotation[1, i] * b.rotation[1, j]
                + a.rotation[2, i] * b.rotation[2, j]
            )
    best_a = -1e300
    axis_a = 0
    best_b = -1e300
    axis_b = 0
    for i in range(3):
        reach = size_a[i]
        for j in range(3):
            reach += size_b[j] * abs(cosines[i, j])
        separation = abs(ca[i]) - reach
        if separation > best_a:
            best_a = separation
            axis_a = i
        reach = size_b[i]
        for j in range(3):
            reach += size_a[j] * abs(cosines[j, i])
        separation = abs(cb[i]) - reach
        if separation > best_b:
            best_b = separation
            axis_b = i
    if best_a > margin or best_b > margin:
        return 0, 4
    edge, bi, bj, nx, ny, nz = _best_edge(a, size_a, b, size_b, ca, cosines, margin)
    if edge > margin:
        return 0, 4
    smallest = min(size_a[0], size_a[1], size_a[2], size_b[0], size_b[1], size_b[2])
    face = max(best_a, best_b)
    floor = max(face, edge)
    if best_a >= best_b - 1e-4 * smallest:
        sign = 1.0 if ca[axis_a] >= 0.0 else -1.0
        count, corners = _face_manifold(
            a, size_a, axis_a, sign, b, size_b, floor, 1.0, margin, out, scratch
        )
    else:
        sign = -1.0 if cb[axis_b] >= 0.0 else 1.0
        count, corners = _face_manifold(
            b, size_b, axis_b, sign, a, size_a, floor, -1.0, margin, out, scratch
        )
    if floor > _EDGE_GAIN:
        count = _add_nearest(a, size_a, b, size_b, ca, cosines, floor, margin, out, count)
    elif bi >= 0 and (edge > face + _EDGE_GAIN or count == 0):
        _edge_point(a, size_a, bi, b, size_b, bj, nx, ny, nz, floor, out, count)
        count += 1
    return count, max(corners, 1)
