"""Sparse LU of 6x6 blocks on the graph of an island, without pivoting between blocks."""

from __future__ import annotations

import numpy as np

from contactworks.common._jit import kernel


@kernel
def symbolic(adjacent):
    """Return (order, start, later, pointer) of a minimum-degree elimination.

    ``adjacent`` (n, n) is overwritten with the fill. ``later[start[k]:start[k + 1]]`` are the
    neighbours of the k-th eliminated body that are eliminated after it; ``pointer[i, j]`` is the
    number of the block (i, j), or -1.
    """
    n = adjacent.shape[0]
    order = np.empty(n, np.int64)
    done = np.zeros(n, np.uint8)
    degree = np.zeros(n, np.int64)
    for i in range(n):
        adjacent[i, i] = 0
        for j in range(n):
            degree[i] += adjacent[i, j]
    start = np.zeros(n + 1, np.int64)
    later = np.empty(n * n, np.int64)
    for step in range(n):
        pick = -1
        for i in range(n):
            if done[i] == 0 and (pick < 0 or degree[i] < degree[pick]):
                pick = i
        order[step] = pick
        done[pick] = 1
        count = start[step]
        for j in range(n):
            if adjacent[pick, j] != 0 and done[j] == 0:
                later[count] = j
                count += 1
        start[step + 1] = count
        for s in range(start[step], count):
            i = later[s]
            degree[i] -= 1
            for t in range(start[step], count):
                j = later[t]
                if i != j and adjacent[i, j] == 0:
                    adjacent[i, j] = 1
                    degree[i] += 1
    pointer = np.full((n, n), -1, np.int64)
    count = 0
    for i in range(n):
        for j in range(n):
            if i == j or adjacent[i, j] != 0:
                pointer[i, j] = count
                count += 1
    return order, start, later, pointer, count


@kernel
def _invert6(a, work):
    """Invert a 6x6 matrix in place by Gauss-Jordan with row pivoting; return success."""
    for i in range(6):
        for j in range(6):
            work[i, j] = 1.0 if i == j else 0.0
    for k in range(6):
        pivot = k
        for i in range(k + 1, 6):
            if abs(a[i, k]) > abs(a[pivot, k]):
                pivot = i
        if not abs(a[pivot, k]) > 0.0:
            return False
        if pivot != k:
            for j in range(6):
                a[k, j], a[pivot, j] = a[pivot, j], a[k, j]
                work[k, j], work[pivot, j] = work[pivot, j], work[k, j]
        inverse = 1.0 / a[k, k]
        for j in range(6):
            a[k, j] *= inverse
            work[k, j] *= inverse
        for i in range(6):
            if i == k:
                continue
            factor = a[i, k]
            if factor == 0.0:
                continue
            for j in range(6):
                a[i, j] -= factor * a[k, j]
                work[i, j] -= factor * work[k, j]
    for i in range(6):
        for j in range(6):
            a[i, j] = work[i, j]
    return True


@kernel
def factorise(blocks, order, start, later, pointer, work):
    """Factorise in place; return False if a diagonal block is singular. ``work`` is (6, 6)."""
    n = order.shape[0]
    for step in range(n):
        k = order[step]
        diagonal = blocks[pointer[k, k]]
        if not _invert6(diagonal, work):
            return False
        for s in range(start[step], start[step + 1]):
            i = later[s]
            lower = blocks[pointer[i, k]]
            for r in range(6):
                for c in range(6):
                    total = 0.0
                    for m in range(6):
                        total += lower[r, m] * diagonal[m, c]
                    work[r, c] = total
            for r in range(6):
                for c in range(6):
                    lower[r, c] = work[r, c]
            for t in range(start[step], start[step + 1]):
                j = later[t]
                upper = blocks[pointer[k, j]]
                target = blocks[pointer[i, j]]
                for r in range(6):
                    for c in range(6):
                        total = 0.0
                        for m in range(6):
                            total += lower[r, m] * upper[m, c]
                        target[r, c] -= total
    return True


@kernel
def solve(blocks, order, start, later, pointer, x):
    """Solve in place for the right-hand side x (n, 6)."""
    n = order.shape[0]
    for step in range(n):
        k = order[step]
        for s in range(start[step], start[step + 1]):
            i = later[s]
            lower = blocks[pointer[i, k]]
            for r in range(6):
                total = 0.0
                for m in range(6):
                    total += lower[r, m] * x[k, m]
                x[i, r] -= total
    rhs = np.empty(6)
    for step in range(n - 1, -1, -1):
        k = order[step]
        for r in range(6):
            rhs[r] = x[k, r]
        for s in range(start[step], start[step + 1]):
            j = later[s]
            upper = blocks[pointer[k, j]]
            for r in range(6):
                for m in range(6):
                    rhs[r] -= upper[r, m] * x[j, m]
        diagonal = blocks[pointer[k, k]]
        for r in range(6):
            total = 0.0
            for m in range(6):
                total += diagonal[r, m] * rhs[m]
            x[k, r] = total
