"""The help beside the dialog of each algorithm."""

HELP = {
    "release": (
        "Measures where people are in a table, under user-level differential privacy, and writes the noisy "
        "measurements as a release. Only the release may be published, never the table.\n\n"
        "<b>It spends budget</b>: each run adds its epsilon to what is already known about the same people. "
        "The ledger keeps account of it. Everything else, maps, areas and differences, is made from the "
        "release and is free.\n\n"
        "The extent must be public: take it from a map, never from the data."
    ),
    "export": (
        "Draws the map of a release. It costs no budget.\n\n"
        "A <b>.png</b> is the heat painted in bands, see-through, in its place: what can't be told from the "
        "noise is left out. A <b>.tif</b> has the numbers: the share of people per km², its standard "
        "deviation, and the share in each pixel, to be added up over areas."
    ),
    "areas": (
        "Counts the people of a release in polygons. It costs no budget.\n\n"
        "Each area gets its share of all people and their number with intervals, people per km², and its rank "
        "with the places between which it may be. Somebody with half of their events in an area counts one "
        "half there. The column <i>note</i> says where there is little to tell."
    ),
    "difference": (
        "Maps what changed from an earlier release of a place to a later one. It costs no budget.\n\n"
        "The raster has four bands: the change of the share of people per km², its standard deviation, 1 "
        "where the change is significant, and the change of the share in each pixel."
    ),
}
