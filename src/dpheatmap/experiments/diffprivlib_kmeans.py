"""diffprivlib's k-means on points of the unit square: a task as JSON on stdin, centres as JSON on stdout.

It runs in the environment that ``scripts/diffprivlib`` makes, not in that of dpheatmap.
"""

import json
import sys
import warnings

import numpy as np


def main() -> None:
    """Centres by epsilon and k."""
    from diffprivlib.models import KMeans

    warnings.simplefilter("ignore")
    task = json.load(sys.stdin)
    points, corners = np.array(task["points"]), (np.zeros(2), np.ones(2))
    found = {
        epsilon: {
            k: KMeans(k, epsilon=float(epsilon), bounds=corners, random_state=task["seed"])
            .fit(points)
            .cluster_centers_.tolist()
            for k in task["ks"]
        }
        for epsilon in task["epsilons"]
    }
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
