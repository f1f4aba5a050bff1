"""Writes figures.json, the expected figures of the statistics, with scipy and statsmodels.

Debian: apt-get install python3-scipy python3-statsmodels; then: /usr/bin/python3 make-figures.py
"""

import json
import pathlib
import random
from math import comb

import numpy as np
import scipy
import statsmodels
from scipy import optimize, special, stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

rng = random.Random(1)


def wilson(passed, runs):
    low, high = proportion_confint(passed, runs, method="wilson")
    return {"passed": passed, "runs": runs, "interval": [float(low), float(high)]}


def mean_of_cases(cases):
    rates = np.array([passed / runs for passed, runs in cases])
    error = stats.sem(rates)
    low, high = stats.t.interval(0.95, len(rates) - 1, loc=rates.mean(), scale=error)
    least = min(runs for _, runs in cases)
    pass_k = [float(np.mean([comb(p, k) / comb(n, k) for p, n in cases])) for k in range(1, least + 1)]
    return {"cases": cases, "rate": float(rates.mean()), "interval": [max(0.0, low), min(1.0, high)], "passK": pass_k}


def evidence(rate, passed, runs):
    """log of 1/((n+1) C(n,s) r^s (1-r)^(n-s)); (n+1) C(n,s) is one over the beta function of (s+1, n-s+1)."""
    return special.betaln(passed + 1, runs - passed + 1) - special.xlogy(passed, rate) - special.xlog1py(runs - passed, -rate)


def sequence(passed, runs):
    edge = np.log(20)
    observed = passed / runs
    out = lambda rate: evidence(rate, passed, runs) - edge
    low = optimize.brentq(out, 1e-300, observed, xtol=1e-14) if passed > 0 and out(1e-300) > 0 else 0.0
    high = optimize.brentq(out, observed, 1 - 1e-16, xtol=1e-14) if passed < runs and out(1 - 1e-16) > 0 else 1.0
    return {"passed": passed, "runs": runs, "interval": [float(low), float(high)]}


def decision(required, passed, runs):
    return {"required": required, "passed": passed, "runs": runs, "decided": bool(evidence(required, passed, runs) >= np.log(20))}


def pairs(before, after):
    """before and after: lists of [passed, runs]."""
    differences = np.array([a[0] / a[1] - b[0] / b[1] for b, a in zip(before, after)])
    n = len(differences)
    error = stats.sem(differences)
    low, high = stats.t.interval(0.95, n - 1, loc=differences.mean(), scale=error)
    if all(runs == 1 for _, runs in before + after):
        better, worse = int((differences > 0).sum()), int((differences < 0).sum())
        p = float(mcnemar([[0, better], [worse, 0]], exact=True).pvalue)
    elif n <= 16:
        outcome = stats.permutation_test(
            (differences,), lambda x, axis: np.sum(x, axis=axis), permutation_type="samples", n_resamples=np.inf
        )
        p = float(outcome.pvalue)
    else:
        outcome = stats.permutation_test(
            (differences,),
            lambda x, axis: np.sum(x, axis=axis),
            permutation_type="samples",
            n_resamples=400_000,
            batch=10_000,
            random_state=1,
        )
        p = float(outcome.pvalue)
    smallest = (stats.t.ppf(0.975, n - 1) + stats.t.ppf(0.8, n - 1)) * error
    return {
        "before": before,
        "after": after,
        "difference": float(differences.mean()),
        "interval": [max(-1.0, low), min(1.0, high)],
        "p": p,
        "smallest": float(smallest),
    }


def kappa(table):
    """table: [[both pass, label only], [judge only, both fail]]."""
    result = cohens_kappa(np.array(table))
    reach = stats.norm.ppf(0.975) * result.std_kappa
    value = float(result.kappa)
    return {"table": table, "value": value, "interval": [max(-1.0, value - reach), min(1.0, value + reach)]}


def independent(before, after):
    """Newcombe's method 10, of two rates that were counted apart."""
    interval = confint_proportions_2indep(*after, *before, method="newcomb", compare="diff")
    return {"before": before, "after": after, "interval": [float(end) for end in interval]}


def singles(count, rate):
    return [[int(rng.random() < rate), 1] for _ in range(count)]


def repeated(count, runs, rate):
    return [[sum(rng.random() < rate for _ in range(runs)), runs] for _ in range(count)]


figures = {
    "made with": {"scipy": scipy.__version__, "statsmodels": statsmodels.__version__.split("+")[0]},
    "wilson": [wilson(*x) for x in [(7, 10), (0, 1), (1, 1), (0, 5), (5, 5), (1, 3), (93, 100), (1999, 2000)]],
    "rates": [
        mean_of_cases(cases)
        for cases in [
            [[3, 5], [5, 5], [0, 5]],
            [[9, 10], [10, 10]],
            [[1, 2], [3, 7], [10, 10], [4, 9]],
            repeated(40, 10, 0.8),
        ]
    ],
    "sequences": [sequence(*x) for x in [(1, 1), (0, 1), (5, 10), (10, 10), (0, 30), (93, 100), (700, 1000), (99, 100)]],
    "decisions": [
        decision(required, passed, runs)
        for required in (0.5, 0.8, 0.95)
        for runs in (1, 3, 6, 7, 8, 20, 60, 100, 157, 158)
        for passed in sorted({0, runs // 2, round(runs * 0.9), runs})
    ],
    "pairs": [
        pairs(singles(20, 0.9), singles(20, 0.6)),
        pairs(singles(300, 0.9), singles(300, 0.8)),
        pairs(repeated(8, 5, 0.9), repeated(8, 5, 0.5)),
        pairs(repeated(16, 3, 0.7), repeated(16, 3, 0.8)),
        pairs(repeated(40, 4, 0.8), repeated(40, 4, 0.7)),
    ],
    "independent": [
        independent(before, after)
        for before, after in [
            ([48, 80], [56, 70]),
            ([3, 10], [9, 10]),
            ([2, 7], [6, 7]),
            ([0, 29], [5, 56]),
            ([0, 20], [0, 10]),
            ([0, 20], [10, 10]),
            ([1, 1], [0, 1]),
            ([25, 25], [19, 25]),
        ]
    ],
    "kappas": [kappa(table) for table in [[[20, 5], [10, 15]], [[45, 15], [25, 15]], [[9, 1], [0, 1]], [[0, 5], [5, 0]]]],
}

here = pathlib.Path(__file__).parent
(here / "figures.json").write_text(json.dumps(figures, indent=1) + "\n")
