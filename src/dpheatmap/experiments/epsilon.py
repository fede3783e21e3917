"""The paper's first figure: every method over epsilon, on 30 city cells of 200 people."""

from __future__ import annotations

from dpheatmap.evaluate.methods import METHODS
from dpheatmap.evaluate.score_table import Series
from dpheatmap.evaluate.scores import METRICS
from dpheatmap.experiments.claims import better_methods, error, listing, lost_cases, mean, trend
from dpheatmap.experiments.populations import Dataset
from dpheatmap.experiments.study import PAPER_METHODS, SIGMA, Data, Finding, Job, Study, over_epsilon

EPSILONS = ("0.1", "0.5", "1", "2", "5", "10")
PEOPLE, TRIALS = 200, 2
THRESHOLDED = PAPER_METHODS[2:]
EMD = METRICS[-1]


def jobs(data: Data) -> tuple[list[Job], Dataset]:
    """The jobs: 30 cells x 2 trials x 6 epsilons."""
    cities = data.cities()
    methods = tuple(METHODS)
    return over_epsilon(cities.places, EPSILONS, people=PEOPLE, trials=TRIALS, methods=methods, sigma=SIGMA), cities


def findings(panels: dict[str, Series]) -> list[Finding]:
    """The paper's claims about its figure, and whether its algorithm is the best of all."""
    series = panels[""]
    places = sorted(series["paper"])
    gains = {at: 1 - mean(series, "paper", at) / _least_threshold(series, at) for at in places}
    middle = min(gains[at] for at in (0.5, 1.0, 2.0, 5.0))
    return [
        poor_baseline(series, 10.0),
        _better_with_threshold(series),
        better_than_baselines(series),
        Finding(
            "the gain is largest where epsilon is neither large nor small (0.2 to 5)",
            middle > max(gains[0.1], gains[10.0]),
            "EMD below the best variant's by " + ", ".join(f"{gains[at]:.0%} at {at:g}" for at in places),
        ),
        best_of_all(series),
        *([_half_the_error(series)] if "ladder" in series else []),
    ]


def _half_the_error(series: Series) -> Finding:
    """The requirement on our own method, from epsilon 0.5 on."""
    missed, told = [], []
    for at in sorted(series["paper"])[1:]:
        ratios = {
            "EMD": (mean(series, "ladder", at) / mean(series, "paper", at), 0.55),
            "KL": (mean(series, "ladder", at, "kl") / mean(series, "paper", at, "kl"), 0.30),
        }
        if at >= 1:
            ratios["PrivTree's EMD"] = (mean(series, "ladder", at) / mean(series, "privtree", at), 0.8)
        missed += [f"{name} at {at:g}" for name, (ratio, most) in ratios.items() if ratio > most]
        told.append(f"at {at:g} " + ", ".join(f"{name} {ratio:.3f}" for name, (ratio, _) in ratios.items()))
    return Finding(
        "our method has at most 0.55 of the paper's EMD, 0.3 of its KL and 0.8 of PrivTree's EMD",
        not missed,
        f"missed: {listing(missed)}; ratios {'; '.join(told)}",
        ours=True,
    )


def poor_baseline(series: Series, at: float) -> Finding:
    """A claim of two figures: the baseline does badly even with little noise."""
    ratios = [error(series, "baseline", at, m) / error(series, "paper", at, m) for m in METRICS]
    told = ", ".join(f"{m.name} {mean(series, 'baseline', at, m.name):.3g}" for m in METRICS)
    return Finding(
        f"the baseline does poorly in all metrics, even at epsilon {at:g}",
        min(ratios) > 2,
        f"{told}; its errors are {min(ratios):.1f} to {max(ratios):.1f} times the paper's algorithm's",
    )


def better_than_baselines(series: Series) -> Finding:
    """A claim of two figures: the algorithm beats the baseline and all its variants, everywhere."""
    lost, cases = lost_cases(series, "paper", PAPER_METHODS)
    return Finding(
        "the paper's algorithm beats the baseline and its variants in all metrics at every epsilon",
        not lost,
        f"{cases - len(lost)} of {cases} cases won; lost: {listing(lost)}; {trend(series, 'paper')} over epsilon",
    )


def _better_with_threshold(series: Series) -> Finding:
    """The claim that keeping the top t % helps a lot: by a tenth less EMD, for some t at each epsilon."""
    places = sorted(series["paper"])
    much = [f"{at:g}" for at in places if _least_threshold(series, at) < 0.9 * mean(series, "baseline", at)]
    return Finding(
        "keeping only the top t % improves the baseline a lot",
        len(much) == len(places),
        f"EMD falls by a tenth or more at epsilon {listing(much)}: "
        f"best variant EMD {' '.join(f'{_least_threshold(series, at):.3g}' for at in places)}, "
        f"baseline {trend(series, 'baseline')}, over epsilon",
    )


def best_of_all(series: Series) -> Finding:
    """Whether the algorithm is the best of all: a question of ours, not the paper's claim."""
    told = []
    for at in sorted(series["paper"]):
        names = better_methods(series, "paper", at, EMD, series)
        shown = [f"{METHODS[name].title} {mean(series, name, at):.3g}" for name in names]
        told.append(f"at {at:g} ({mean(series, 'paper', at):.3g}) {listing(shown)}")
    lost, _ = lost_cases(series, "paper", tuple(series))
    return Finding(
        "no other method of those tried beats the paper's algorithm (our question, not the paper's claim)",
        not lost,
        "methods with a lower EMD: " + "; ".join(told),
        ours=True,
    )


def _least_threshold(series: Series, at: float) -> float:
    return min(mean(series, name, at) for name in THRESHOLDED)


STUDY = Study(
    name="comparison",
    title="All methods over epsilon: 200 people, 256 x 256 cells",
    axis="epsilon",
    jobs=jobs,
    findings=findings,
    logarithmic=True,
)
