"""Makes the bundled fonts, a regular and a semi-bold one, from the npm package @fontsource/inter; run by scripts/font.

The package has the font in parts, each for a range of letters. Those that names of places and our own words need are
cut to outlines and widths, which is all that pictures use, and put together to one file a weight.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from fontTools.merge import Merger
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "src/dpheatmap/render/figure/font"
WEIGHTS = {400: "inter.ttf", 600: "inter-semibold.ttf"}
PARTS = ("latin", "latin-ext", "vietnamese", "greek", "cyrillic", "cyrillic-ext")
LETTERS = [
    range(0x20, 0x7F),
    range(0xA0, 0x250),  # Latin with accents, and the letters of Azeri, Romanian, Maltese
    range(0x259, 0x25A),  # schwa
    range(0x2B9, 0x2DE),  # apostrophes that are letters
    range(0x370, 0x460),  # Greek and Cyrillic
    range(0x490, 0x4F0),  # Cyrillic of Ukraine and Asia
    range(0x1E00, 0x1F00),  # dots and lines below, and Vietnamese
    range(0x2010, 0x2027),  # dashes and quotes
    range(0x2190, 0x2194),  # arrows
    *(range(code, code + 1) for code in (0x2030, 0x20AC, 0x2212, 0x2248)),  # per mille, euro, minus, about
]


def main(package: Path) -> None:
    """Write the fonts."""
    for weight, name in WEIGHTS.items():
        write(package, weight, FOLDER / name)


def write(package: Path, weight: int, target: Path) -> None:
    """Write the font of a weight."""
    with tempfile.TemporaryDirectory() as folder:
        parts = []
        taken: set[int] = set()
        for name in PARTS:
            part = Path(folder, f"{name}.ttf")
            taken |= cut(package / f"files/inter-{name}-{weight}-normal.woff", part, taken)
            parts.append(str(part))
        font = Merger().merge(parts)
    made = TTFont(package / f"files/inter-{PARTS[0]}-{weight}-normal.woff")["head"].created
    font["head"].created = font["head"].modified = made  # so that the same package makes the same file
    font.recalcTimestamp = False
    target.parent.mkdir(exist_ok=True)
    font.save(target)
    print(f"{target.relative_to(ROOT)}: {target.stat().st_size:,} bytes, {len(font.getBestCmap())} letters and signs")


def cut(source: Path, target: Path, taken: set[int]) -> set[int]:
    """Write the wanted letters of a part that no part before it has; returns them."""
    font = TTFont(source, recalcTimestamp=False)
    wanted = {code for codes in LETTERS for code in codes} & set(font.getBestCmap()) - taken
    options = Options(layout_features=[], hinting=False, name_IDs=[0, 1, 2, 3, 4, 5, 6, 13, 14], notdef_outline=True)
    options.drop_tables += ["GDEF", "GPOS", "GSUB", "STAT", "DSIG", "meta", "gasp"]
    cutter = Subsetter(options)
    cutter.populate(unicodes=wanted)
    cutter.subset(font)
    font.flavor = None
    font.save(target)
    return wanted


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "web/node_modules/@fontsource/inter")
