"""The algorithms: their parameters become the arguments of a command, and its files become layers."""

import os

from processing.core.ProcessingConfig import ProcessingConfig
from qgis.core import (
    QgsCoordinateReferenceSystem,
    QgsProcessing,
    QgsProcessingAlgorithm,
    QgsProcessingException,
    QgsProcessingParameterCrs,
    QgsProcessingParameterEnum,
    QgsProcessingParameterExtent,
    QgsProcessingParameterFeatureSource,
    QgsProcessingParameterField,
    QgsProcessingParameterFile,
    QgsProcessingParameterFileDestination,
    QgsProcessingParameterNumber,
    QgsProcessingParameterRasterDestination,
    QgsProcessingParameterString,
    QgsProcessingParameterVectorDestination,
)
from qgis.PyQt.QtGui import QIcon

from .command import CancelledError, CommandError, find_command, run_command
from .help_texts import HELP
from .layer_style import keep_painting

SETTING = "DPHEATMAP_COMMAND"
RELEASES = "Releases (*.dph.parquet *.parquet)"
DEGREES = QgsCoordinateReferenceSystem("EPSG:4326")
VALUES = ["share", "people"]


class Algorithm(QgsProcessingAlgorithm):
    """What all algorithms share: they run the command, show its lines and progress, and can be cancelled."""

    NAME = TITLE = ""

    def name(self):
        """Return the name in models and scripts."""
        return self.NAME

    def displayName(self):
        """Return the name that users see."""
        return self.TITLE

    def shortHelpString(self):
        """Return the help beside the dialog."""
        return HELP[self.NAME]

    def icon(self):
        """Return the icon."""
        return QIcon(os.path.join(os.path.dirname(__file__), "icon.svg"))

    def createInstance(self):
        """Make another one."""
        return type(self)()

    def add(self, parameter, help_text="", optional=False):
        """Add a parameter with its help."""
        parameter.setHelp(help_text)
        if optional:
            parameter.setFlags(parameter.flags() | parameter.FlagOptional)
        self.addParameter(parameter)

    def add_release(self, name, title):
        """Add a parameter for a release."""
        self.add(
            QgsProcessingParameterFile(name, title, extension="parquet"),
            "A .dph.parquet file, which dpheatmap release made.",
        )

    def add_sigma(self):
        """Add the parameter of smoothing."""
        sigma = QgsProcessingParameterNumber("SIGMA", "Smoothing in metres", QgsProcessingParameterNumber.Double)
        self.add(sigma, "By default 2 % of the longer side of the place.", optional=True)

    def add_slice(self):
        """Add the parameter of one of several maps."""
        self.add(
            QgsProcessingParameterString("SLICE", "Slice"),
            "One map of a release of several, such as 8 or mon 8. Leave it blank for a release of one map.",
            optional=True,
        )

    def sigma_and_slice(self, parameters, context):
        """Return the arguments of smoothing and slice, those that were given."""
        given = []
        if parameters.get("SIGMA") is not None:
            given += ["--sigma", repr(self.parameterAsDouble(parameters, "SIGMA", context))]
        return given + self.texts(parameters, context, SLICE="--slice")

    def texts(self, parameters, context, **options):
        """Return the arguments of texts that were given, by the names of their parameters."""
        found = []
        for name, option in options.items():
            text = self.parameterAsString(parameters, name, context).strip()
            if text:
                found.append(f"{option}={text}")
        return found

    def run_command(self, arguments, feedback):
        """Run the command; its error becomes that of the algorithm, and a cancelled one leaves no files."""
        try:
            command = find_command(ProcessingConfig.getSetting(SETTING))
            feedback.pushCommandInfo(" ".join(["dpheatmap", *arguments]))
            return run_command(
                command,
                arguments,
                tell=feedback.pushInfo,
                progress=feedback.setProgress,
                cancelled=feedback.isCanceled,
            )
        except CancelledError:
            raise QgsProcessingException("Cancelled; nothing was written.") from None
        except CommandError as error:
            raise QgsProcessingException(str(error)) from None


class Release(Algorithm):
    """dpheatmap release."""

    NAME, TITLE = "release", "Release a table privately"

    def initAlgorithm(self, config=None):
        """Add the parameters."""
        number = QgsProcessingParameterNumber
        self.add(
            QgsProcessingParameterFile("INPUT", "Table (CSV, Parquet or JSON)"), "A row for each event: who, and where."
        )
        self.add(
            QgsProcessingParameterString("USER", "Column of the person"),
            "Whose a row is. All rows of a person are protected together.",
        )
        self.add(QgsProcessingParameterString("X", "Column of longitude, or x", "lon"))
        self.add(QgsProcessingParameterString("Y", "Column of latitude, or y", "lat"))
        self.add(
            QgsProcessingParameterCrs("CRS", "System of the coordinates", optional=True),
            "If they are not degrees.",
            optional=True,
        )
        self.add(
            number("EPSILON", "Epsilon per person", number.Double, 1.0, minValue=1e-6),
            "How much may leak about a person: 1 is common, less is safer and noisier.",
        )
        self.add(QgsProcessingParameterExtent("EXTENT", "Place"), "Public, and not read off the data.")
        self.add(number("RESOLUTION", "Cells at most this wide, in metres", number.Double, 50.0, minValue=0.01))
        self.add(
            QgsProcessingParameterString("POPULATION", "Population"),
            "The people in the ledger who are charged. May be blank as long as the ledger holds no limit.",
            optional=True,
        )
        self.add(
            QgsProcessingParameterFile("LEDGER", "Ledger"), "By default the one in your data folder.", optional=True
        )
        self.add(QgsProcessingParameterFileDestination("OUTPUT", "Release", RELEASES))

    def processAlgorithm(self, parameters, context, feedback):
        """Release the table."""
        extent = self.parameterAsExtent(parameters, "EXTENT", context, DEGREES)
        output = with_ending(self.parameterAsFileOutput(parameters, "OUTPUT", context), ".dph.parquet")
        box = (extent.xMinimum(), extent.yMinimum(), extent.xMaximum(), extent.yMaximum())
        arguments = [
            "release", self.parameterAsFile(parameters, "INPUT", context), "-o", output,
            "--epsilon", repr(self.parameterAsDouble(parameters, "EPSILON", context)),
            "--bbox={}".format(",".join(map(repr, box))),
            "--resolution", repr(self.parameterAsDouble(parameters, "RESOLUTION", context)),
            *self.texts(parameters, context, USER="--user", X="--x", Y="--y"),
            *self.texts(parameters, context, POPULATION="--population", LEDGER="--ledger"),
        ]  # fmt: skip
        crs = self.parameterAsCrs(parameters, "CRS", context)
        if crs.isValid():
            arguments += ["--crs", crs.authid()]
        self.run_command(arguments, feedback)
        return {"OUTPUT": output}


class Export(Algorithm):
    """dpheatmap export."""

    NAME, TITLE = "export", "Map from a release"

    def initAlgorithm(self, config=None):
        """Add the parameters."""
        self.add_release("INPUT", "Release")
        self.add_slice()
        self.add_sigma()
        self.add(QgsProcessingParameterEnum("VALUES", "Numbers", ["shares of people", "people"], defaultValue=0))
        self.add(
            QgsProcessingParameterFileDestination(
                "PAGE", "Interactive map", "Pages (*.html)", optional=True, createByDefault=False
            ),
            "A page for the browser that needs no network.",
            optional=True,
        )
        self.add(QgsProcessingParameterRasterDestination("OUTPUT", "Map"))

    def processAlgorithm(self, parameters, context, feedback):
        """Draw the map."""
        output = self.parameterAsOutputLayer(parameters, "OUTPUT", context)
        page = self.parameterAsFileOutput(parameters, "PAGE", context)
        values = VALUES[self.parameterAsEnum(parameters, "VALUES", context)]
        given = [*self.sigma_and_slice(parameters, context), "--values", values]
        release = self.parameterAsFile(parameters, "INPUT", context)
        bare = ["--bare"] if output.lower().endswith(".png") else []
        self.run_command(["export", release, "-o", output, *bare, *given], feedback)
        found = {"OUTPUT": output}
        if page:
            self.run_command(["export", release, "-o", page, *given], feedback)
            found["PAGE"] = page
        keep_painting(context, output, "heat")
        return found


class Areas(Algorithm):
    """dpheatmap areas."""

    NAME, TITLE = "areas", "People in areas"

    def initAlgorithm(self, config=None):
        """Add the parameters."""
        number = QgsProcessingParameterNumber
        self.add_release("INPUT", "Release")
        self.add(QgsProcessingParameterFeatureSource("AREAS", "Areas", [QgsProcessing.TypeVectorPolygon]))
        self.add(
            QgsProcessingParameterField(
                "NAME", "Column of their names", parentLayerParameterName="AREAS", optional=True
            ),
            optional=True,
        )
        self.add(
            number(
                "CONFIDENCE", "How often intervals hold the truth", number.Double, 0.9, minValue=0.51, maxValue=0.999
            )
        )
        self.add_slice()
        self.add(QgsProcessingParameterVectorDestination("OUTPUT", "People in areas"))

    def processAlgorithm(self, parameters, context, feedback):
        """Count the people."""
        output = self.parameterAsOutputLayer(parameters, "OUTPUT", context)
        path, layer = self.parameterAsCompatibleSourceLayerPathAndLayerName(
            parameters, "AREAS", context, ["gpkg", "geojson", "shp"], "gpkg", feedback
        )
        arguments = ["areas", self.parameterAsFile(parameters, "INPUT", context), path, "-o", output]
        if layer and path.lower().endswith(".gpkg"):
            arguments.append(f"--layer={layer}")
        arguments += ["--confidence", repr(self.parameterAsDouble(parameters, "CONFIDENCE", context))]
        arguments += self.texts(parameters, context, NAME="--name", SLICE="--slice")
        self.run_command(arguments, feedback)
        return {"OUTPUT": output}


class Difference(Algorithm):
    """dpheatmap export --minus."""

    NAME, TITLE = "difference", "What changed between releases"

    def initAlgorithm(self, config=None):
        """Add the parameters."""
        self.add_release("BEFORE", "Earlier release")
        self.add_release("AFTER", "Later release")
        self.add_sigma()
        output = QgsProcessingParameterRasterDestination("OUTPUT", "Change")
        self.add(output, "A .tif file.")

    def processAlgorithm(self, parameters, context, feedback):
        """Subtract the earlier release."""
        output = with_ending(self.parameterAsOutputLayer(parameters, "OUTPUT", context), ".tif")
        after, before = (self.parameterAsFile(parameters, name, context) for name in ("AFTER", "BEFORE"))
        arguments = ["export", after, "--minus", before, "-o", output]
        if parameters.get("SIGMA") is not None:
            arguments += ["--sigma", repr(self.parameterAsDouble(parameters, "SIGMA", context))]
        self.run_command(arguments, feedback)
        keep_painting(context, output, "change")
        return {"OUTPUT": output}


ALGORITHMS = (Release, Export, Areas, Difference)


def with_ending(path, ending):
    """Return a path with an ending, in place of the one that QGIS gave it."""
    if path.lower().endswith(ending):
        return path
    return os.path.splitext(path)[0] + ending
