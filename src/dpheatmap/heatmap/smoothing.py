"""Smoothing of a distribution to pixels by the paper's Gaussian filter, with sigma on the ground.

**Inside a boundary.** The filter of a rectangle is a matrix G that keeps each pixel's mass in the rectangle. Let w be
the part of each pixel that lies inside. The mass that G would leave inside is z = G' w for a unit of it, with G' the
transpose. So ``H = w * G (p / z)`` keeps all mass inside, as the paper's formula does with a sum over pixels inside.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from dpheatmap._util.parameters import check
from dpheatmap.place.domain import Domain, Floats

if TYPE_CHECKING:
    from dpheatmap.estimate.distribution import Distribution

_DEFAULT_SIGMA = 0.02  # of the longer side
_DEFAULT_SIZE = 1024  # pixels on the longer side, at most
_REACH = 13.0  # sigmas: beyond, the kernel is below 1e-36 of its top
_LEAST_KEPT = 1e-12  # of a pixel's mass: farther out there is none
_DIRECTLY = 2**19  # products of a convolution, from which on Fourier's transform is faster and as good


def default_sigma(domain: Domain) -> float:
    """The default smoothing: 2 % of the longer side."""
    return _DEFAULT_SIGMA * domain.longer_side


def sigma_of(domain: Domain, sigma: float | None) -> float:
    """The smoothing that was asked for, checked, or the default one."""
    if sigma is None:
        return default_sigma(domain)
    check(sigma=sigma)
    return float(sigma)


def smooth(distribution: Distribution, sigma: float, size: int | None = None) -> Floats:
    """Rasterise a distribution to ``size`` pixels on the longer side and smooth it by the paper's Gaussian filter.

    A uniform map that replaces an estimate of zero stays uniform: the filter would dim its edges, which would look like
    a finding.
    """
    domain = distribution.domain
    finest = domain.cells(domain.depth)
    longer = max(finest.columns, finest.rows)
    size = min(longer, _DEFAULT_SIZE) if size is None else size
    check(sigma=sigma, size=size)
    columns, rows = (max(1, round(cells * int(size) / longer)) for cells in (finest.columns, finest.rows))
    values = distribution.raster(columns, rows)
    if distribution.empty:
        return values
    smoothed: Floats = parts_inside(domain, (rows, columns)) * gaussian_filter(values, domain, float(sigma))
    return smoothed


@lru_cache(maxsize=8)
def parts_inside(domain: Domain, shape: tuple[int, int]) -> Floats:
    """The part of each pixel of a grid that lies inside the domain; one 1 for all if that is a rectangle."""
    from dpheatmap.estimate.distribution import Distribution

    if domain.runs is None:
        return np.ones((1, 1))
    rows, columns = shape
    parts: Floats = np.minimum(
        Distribution.uniform(domain).raster(columns, rows) * inside_in_pixels(domain, shape), 1.0
    )
    return parts


def inside_in_pixels(domain: Domain, shape: tuple[int, int]) -> float:
    """The area inside the domain, in pixels of a grid."""
    root = np.zeros(1, np.int64)
    return float(domain.weight(0, root)[0]) * shape[0] * shape[1] / domain.cells(domain.depth).count


@lru_cache(maxsize=8)
def kept_inside(domain: Domain, sigma: float, shape: tuple[int, int]) -> Floats:
    """The part of each pixel's mass that the filter of the rectangle leaves inside the domain: z."""
    parts = parts_inside(domain, shape)
    if parts.size == 1:
        return parts
    across, down = sigmas_in_pixels(domain, sigma, shape)
    kept = _kernel(down).T @ parts
    for row in range(len(kept)):
        kept[row] = filter_row(kept[row], float(across[row]), back=True)
    return np.maximum(kept, _LEAST_KEPT)


def gaussian_filter(raster: Floats, domain: Domain, sigma: float) -> Floats:
    """Spread the mass p of each pixel over the domain by a Gaussian kernel that keeps all of it inside:

        H(x, y) = sum over pixels (x', y') of p(x', y') exp(-d^2 / 2 sigma^2) / Z(x', y'),

    d the distance from (x, y) to (x', y') and Z(x', y') the sum of the exponentials over all pixels (x, y). The
    paper prints Z with its variables the wrong way round; with this one, each pixel keeps its mass.

    The exponential is a product over the two axes, and so is Z. Sigma is a length on the ground, which Web Mercator
    draws larger away from the equator, so each *source* row has its own sigma in pixels. Filtering the rows across,
    each by its own kernel, and then down gives exactly the sum above. Several rasters, along a first axis, are filtered
    at once.

    Inside a boundary, the result is the mass that pixels would have if they lay inside as a whole, also beyond it.
    Times `parts_inside` it is H.
    """
    rows, columns = raster.shape[-2:]
    raster = raster / kept_inside(domain, sigma, (rows, columns))
    across, down = sigmas_in_pixels(domain, sigma, (rows, columns))
    if np.ptp(across) <= 1e-12 * across.max():
        smoothed = raster @ _kernel(np.full(columns, across[0])).T
    else:
        smoothed = np.empty(raster.shape)
        along = filter_row if raster.ndim == 2 else _filter_rows
        for row in range(rows):
            smoothed[..., row, :] = along(raster[..., row, :], float(across[row]))
    result: Floats = _kernel(down) @ smoothed
    return result


def sigmas_in_pixels(domain: Domain, sigma: float, shape: tuple[int, int]) -> tuple[Floats, Floats]:
    """Sigma in pixels across and down, for each row of a raster."""
    with np.errstate(over="ignore"):  # sigmas beyond these bounds act like the bounds: no change, or a uniform map
        across, down = (np.clip(sigma / side, 1e-100, 1e100) for side in pixel_sides(domain, *shape))
    return across, down


def _kernel(sigmas: Floats) -> Floats:
    """The matrix that spreads pixel ``j`` of a line by a kernel of width ``sigmas[j]``; each column adds up to 1."""
    at = np.arange(len(sigmas), dtype=np.float64)
    bells = bell(at[:, None] - at, sigmas)
    kernel: Floats = bells / bells.sum(axis=0)
    return kernel


def filter_row(row: Floats, sigma: float, *, back: bool = False) -> Floats:
    """Spread a row along itself by one convolution with a kernel, which is 0 beyond :data:`_REACH` sigmas.

    With ``back``, it is multiplied by the transpose of that matrix.
    """
    columns = len(row)
    half = bell(np.arange(columns, dtype=np.float64), sigma)
    # Of the kernel at j, sums[j] lies at or before j and sums[columns - 1 - j] at or after it.
    sums = np.cumsum(half)
    reach = min(columns, math.ceil(_REACH * sigma) + 1)
    totals = sums + sums[::-1] - 1.0
    if back:
        return _convolve(row, half[:reach]) / totals
    return _convolve(row / totals, half[:reach])


def _convolve(row: Floats, half: Floats) -> Floats:
    """Convolve a row with a symmetric kernel, given from its middle on."""
    columns, reach = len(row), len(half)
    if reach * columns > _DIRECTLY:
        return _convolve_by_fourier(row, half)
    whole = np.concatenate([half[:0:-1], half])
    spread: Floats = np.convolve(whole, row)[reach - 1 : reach - 1 + columns]
    return spread


def _convolve_by_fourier(row: Floats, half: Floats) -> Floats:
    """Convolve, to within rounding of the highest value."""
    columns, reach = len(row), len(half)
    size = min(odd * 2 ** math.ceil(math.log2((columns + reach) / odd)) for odd in (1, 3, 5, 9, 15))
    kernel = np.zeros(size)  # the first half of a kernel around 0, and the second before the end
    kernel[:reach] = half
    kernel[size - reach + 1 :] = half[:0:-1]
    spread: Floats = np.maximum(np.fft.irfft(np.fft.rfft(row, size) * np.fft.rfft(kernel), size)[:columns], 0.0)
    return spread


def _filter_rows(rows: Floats, sigma: float) -> Floats:
    """Spread several rows by one kernel. BLAS is not used: its threads cost more than such small products."""
    spread: Floats = np.einsum("...j,kj->...k", rows, _kernel(np.full(rows.shape[-1], sigma)))
    return spread


def bell(distance: Floats, sigma: Floats | float) -> Floats:
    """exp(-d^2 / 2 sigma^2), 0 where it underflows."""
    height: Floats = np.exp(-0.5 * (distance / sigma) ** 2)
    return height


def middle_rows(domain: Domain, rows: int) -> Floats:
    """The middles of the pixel rows, in rows of finest cells from the root square's top."""
    finest = domain.cells(domain.depth)
    middles: Floats = finest.y0 + (np.arange(rows, dtype=np.float64) + 0.5) * (finest.rows / rows)
    return middles


def pixel_sides(domain: Domain, rows: int, columns: int) -> tuple[Floats, Floats]:
    """Width and height of the pixels of each row, in ground metres, pixels of the image or sides."""
    finest = domain.cells(domain.depth)
    cell = domain.lengths_of_cells(domain.depth, middle_rows(domain, rows))
    return cell * (finest.columns / columns), cell * (finest.rows / rows)
