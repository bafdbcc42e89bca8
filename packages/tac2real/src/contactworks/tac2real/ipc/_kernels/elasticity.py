"""The energies of :mod:`contactworks.tac2real.ipc.elasticity` for the compiler.

Conventions: no ``from __future__ import annotations`` (the compiler reads the annotations as
objects).  Types follow the arguments: constants are whole numbers, because a literal such as 0.5
takes the host program's default type.  ``model`` is a code from ``elasticity.ElasticModel.code``.
No atomics: one thread writes each entry, so a result does not depend on the number of threads, nor
on the other environments in the batch.

Array arguments: x positions (E, n, 3), tets (m, 4), rest_inverse (m, 3, 3), volume (m,),
mu and la (E,), ratio (E, m): J.
"""

from contactworks.tac2real._runtime import ti

NEO_HOOKEAN = 0
STABLE_NEO_HOOKEAN = 1
ARAP = 2
FIXED_COROTATED = 3
COROTATED = (ARAP, FIXED_COROTATED)

_POLAR_ITERATIONS = 30


@ti.func
def row(f, i: ti.template()):
    """Return row i of a 3x3 matrix."""
    return ti.Vector([f[i, 0], f[i, 1], f[i, 2]])


@ti.func
def cofactor(f):
    """Return the derivative of det f: row i is the cross product of the next two rows."""
    a, b, c = row(f, 0), row(f, 1), row(f, 2)
    return ti.Matrix.rows([b.cross(c), c.cross(a), a.cross(b)])


@ti.func
def cofactor_change(f, df):
    """Return the change of the cofactor matrix of f along df."""
    a, b, c = row(f, 0), row(f, 1), row(f, 2)
    da, db, dc = row(df, 0), row(df, 1), row(df, 2)
    return ti.Matrix.rows(
        [
            db.cross(c) + b.cross(dc),
            dc.cross(a) + c.cross(da),
            da.cross(b) + a.cross(db),
        ]
    )


@ti.func
def determinant(f, h):
    """Return det f from f and its cofactor matrix h."""
    return f[0, 0] * h[0, 0] + f[0, 1] * h[0, 1] + f[0, 2] * h[0, 2]


@ti.func
def contract(a, b):
    """Return the sum of products of the entries of two 3x3 matrices."""
    total = a[0, 0] * b[0, 0]
    for i, j in ti.static(ti.ndrange(3, 3)):
        if ti.static(i + j > 0):
            total += a[i, j] * b[i, j]
    return total


@ti.func
def polar_rotation(f):
    """Return R of f = R S for det f > 0.

    Newton's iteration R <- (R + R^-T) / 2, which converges quadratically; one more step after the
    change has fallen below 1e-5.

    Source: Higham, Computing the Polar Decomposition, 1986, algorithm 3.1, without acceleration.
    """
    r = f
    is_close = 0
    for _ in range(_POLAR_ITERATIONS):
        h = cofactor(r)
        new = (r + h / determinant(r, h)) / 2
        change = contract(new - r, new - r)
        r = new
        if is_close == 1:
            break
        if change < 1e-10:
            is_close = 1
    return r


@ti.func
def rotation_change(f, r, df):
    """Return the change of the rotation r of f along df; derived in elasticity._rotation_change."""
    s = r.transpose() @ f
    local = r.transpose() @ df
    axial = ti.Vector(
        [local[2, 1] - local[1, 2], local[0, 2] - local[2, 0], local[1, 0] - local[0, 1]]
    )
    # tr(S) - S, symmetrised: S is symmetric only to rounding.
    a, b, c = s[1, 1] + s[2, 2], s[0, 0] + s[2, 2], s[0, 0] + s[1, 1]
    d, e, g = -(s[0, 1] + s[1, 0]) / 2, -(s[0, 2] + s[2, 0]) / 2, -(s[1, 2] + s[2, 1]) / 2
    m = ti.Matrix([[a, d, e], [d, b, g], [e, g, c]])
    h = cofactor(m)
    w = h @ axial / determinant(m, h)
    # Row i of R [w] is (row i of R) x w.
    return ti.Matrix.rows([row(r, 0).cross(w), row(r, 1).cross(w), row(r, 2).cross(w)])


@ti.func
def volume_terms(model: ti.template(), j, mu, la):
    """Return (w, w', w'') of the volume energy at j."""
    zero = ti.zero(j)
    result = ti.Vector([zero, zero, zero])
    if ti.static(model == NEO_HOOKEAN):
        log = ti.log(j)
        result = ti.Vector(
            [la * log * log / 2 - mu * log, (la * log - mu) / j, (la - la * log + mu) / (j * j)]
        )
    elif ti.static(model == STABLE_NEO_HOOKEAN):
        growth = j - 1
        bulk = la + mu
        result = ti.Vector([bulk * growth * growth / 2 - mu * growth, bulk * growth - mu, bulk])
    elif ti.static(model == FIXED_COROTATED):
        growth = j - 1
        result = ti.Vector([la * growth * growth / 2, la * growth, la])
    return result


@ti.func
def energy_density(model: ti.template(), f, mu, la):
    """Return the energy per rest volume; the formula holds for det f > 0 (stable: everywhere)."""
    j = determinant(f, cofactor(f))
    energy = volume_terms(model, j, mu, la)[0]
    if ti.static(model in COROTATED):
        change = f - polar_rotation(f)
        energy += mu * contract(change, change)
    else:
        energy += mu * (contract(f, f) - 3) / 2
    return energy


@ti.func
def stress(model: ti.template(), f, mu, la):
    """Return the first Piola stress."""
    h = cofactor(f)
    p = volume_terms(model, determinant(f, h), mu, la)[1] * h
    if ti.static(model in COROTATED):
        p += 2 * mu * (f - polar_rotation(f))
    else:
        p += mu * f
    return p


@ti.func
def stress_product(model: ti.template(), f, df, mu, la):
    """Return the change of the first Piola stress along df."""
    h = cofactor(f)
    terms = volume_terms(model, determinant(f, h), mu, la)
    dp = terms[2] * contract(h, df) * h + terms[1] * cofactor_change(f, df)
    if ti.static(model in COROTATED):
        dp += 2 * mu * (df - rotation_change(f, polar_rotation(f), df))
    else:
        dp += mu * df
    return dp


@ti.func
def shape_matrix(x: ti.template(), tets: ti.template(), e, t):
    """Return the edges from corner 0 of tetrahedron t in environment e, as columns."""
    a, b, c, d = tets[t, 0], tets[t, 1], tets[t, 2], tets[t, 3]
    return ti.Matrix(
        [
            [x[e, b, i] - x[e, a, i], x[e, c, i] - x[e, a, i], x[e, d, i] - x[e, a, i]]
            for i in range(3)
        ]
    )


@ti.func
def rest_matrix(rest_inverse: ti.template(), t):
    """Return the inverse of the rest edges of tetrahedron t."""
    return ti.Matrix([[rest_inverse[t, i, j] for j in range(3)] for i in range(3)])


@ti.kernel
def element_energy(
    model: ti.template(),
    x: ti.types.ndarray(ndim=3),
    tets: ti.types.ndarray(ndim=2),
    rest_inverse: ti.types.ndarray(ndim=3),
    volume: ti.types.ndarray(ndim=1),
    mu: ti.types.ndarray(ndim=1),
    la: ti.types.ndarray(ndim=1),
    energy: ti.types.ndarray(ndim=2),
    ratio: ti.types.ndarray(ndim=2),
):
    """Write the energy of each element, shape (E, m), and its J."""
    for e, t in ti.ndrange(x.shape[0], tets.shape[0]):
        f = shape_matrix(x, tets, e, t) @ rest_matrix(rest_inverse, t)
        ratio[e, t] = determinant(f, cofactor(f))
        energy[e, t] = volume[t] * energy_density(model, f, mu[e], la[e])


@ti.kernel
def element_gradient(
    model: ti.template(),
    x: ti.types.ndarray(ndim=3),
    tets: ti.types.ndarray(ndim=2),
    rest_inverse: ti.types.ndarray(ndim=3),
    volume: ti.types.ndarray(ndim=1),
    mu: ti.types.ndarray(ndim=1),
    la: ti.types.ndarray(ndim=1),
    columns: ti.types.ndarray(ndim=4),
    ratio: ti.types.ndarray(ndim=2),
):
    """Write V P Dm^-T, shape (E, m, 3, 3): column k is the gradient at corner k + 1; and J."""
    for e, t in ti.ndrange(x.shape[0], tets.shape[0]):
        rest = rest_matrix(rest_inverse, t)
        f = shape_matrix(x, tets, e, t) @ rest
        ratio[e, t] = determinant(f, cofactor(f))
        g = volume[t] * (stress(model, f, mu[e], la[e]) @ rest.transpose())
        for i, k in ti.static(ti.ndrange(3, 3)):
            columns[e, t, i, k] = g[i, k]


@ti.kernel
def element_product(
    model: ti.template(),
    x: ti.types.ndarray(ndim=3),
    direction: ti.types.ndarray(ndim=3),
    tets: ti.types.ndarray(ndim=2),
    rest_inverse: ti.types.ndarray(ndim=3),
    volume: ti.types.ndarray(ndim=1),
    mu: ti.types.ndarray(ndim=1),
    la: ti.types.ndarray(ndim=1),
    columns: ti.types.ndarray(ndim=4),
    ratio: ti.types.ndarray(ndim=2),
):
    """Write the change of the columns of element_gradient along direction (E, n, 3); and J."""
    for e, t in ti.ndrange(x.shape[0], tets.shape[0]):
        rest = rest_matrix(rest_inverse, t)
        f = shape_matrix(x, tets, e, t) @ rest
        df = shape_matrix(direction, tets, e, t) @ rest
        ratio[e, t] = determinant(f, cofactor(f))
        g = volume[t] * (stress_product(model, f, df, mu[e], la[e]) @ rest.transpose())
        for i, k in ti.static(ti.ndrange(3, 3)):
            columns[e, t, i, k] = g[i, k]


@ti.kernel
def gather_nodes(
    columns: ti.types.ndarray(ndim=4),
    start: ti.types.ndarray(ndim=1),
    incident: ti.types.ndarray(ndim=1),
    result: ti.types.ndarray(ndim=3),
):
    """Sum columns at the nodes, shape (E, n, 3).

    Entries start[v]..start[v + 1] of incident hold 4 t + corner for the elements t of node v.
    """
    for e, v in ti.ndrange(result.shape[0], result.shape[1]):
        zero = ti.zero(columns[e, 0, 0, 0])
        total = ti.Vector([zero, zero, zero])
        for k in range(start[v], start[v + 1]):
            t = incident[k] // 4
            corner = incident[k] % 4
            if corner == 0:
                for i in ti.static(range(3)):
                    total[i] -= columns[e, t, i, 0] + columns[e, t, i, 1] + columns[e, t, i, 2]
            else:
                for i in ti.static(range(3)):
                    total[i] += columns[e, t, i, corner - 1]
        for i in ti.static(range(3)):
            result[e, v, i] = total[i]
