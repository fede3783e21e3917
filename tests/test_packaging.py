"""What is published: one version everywhere, complete metadata, every licence, nothing twice; and it works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest

import dpheatmap
from helpers import ROOT

LARGEST = 5_000_000


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The source distribution, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("dist")
    build(ROOT, "sdist", folder)
    (source,) = folder.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        archive.extractall(folder, filter="data")
    build(folder / source.name.removesuffix(".tar.gz"), "wheel", folder)
    (wheel,) = folder.glob("*.whl")
    return source, wheel


def build(project: Path, target: str, folder: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    environment = {name: value for name, value in os.environ.items() if name != "DPHEATMAP_KERNELS"}
    subprocess.run(command, cwd=project, env=environment, check=True, capture_output=True)


def test_the_source_distribution_is_small(built: tuple[Path, Path]) -> None:
    assert built[0].stat().st_size < LARGEST


def test_the_wheel_of_the_source_distribution_has_every_file_of_the_package(built: tuple[Path, Path]) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "src/dpheatmap"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    assert {name.removeprefix("src/") for name in listed} <= set(zipfile.ZipFile(built[1]).namelist())


def test_maplibre_is_carried_once(built: tuple[Path, Path]) -> None:
    archive = zipfile.ZipFile(built[1])
    scripts = [name for name in archive.namelist() if name.endswith((".js", ".css"))]
    shaders = [name for name in scripts if b"gl_Position" in archive.read(name)]
    assert shaders == ["dpheatmap/render/web/static/maplibre.js"]
    assert len({archive.read(name) for name in scripts}) == len(scripts)


def test_metadata_is_complete(built: tuple[Path, Path]) -> None:
    archive = zipfile.ZipFile(built[1])
    (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    found = HeaderParser().parsestr(archive.read(name).decode())
    assert found["Version"] == dpheatmap.__version__
    assert found["License-Expression"] == "Apache-2.0"
    assert found["Author"]
    assert found["Project-URL"]
    assert found["Description-Content-Type"] == "text/markdown"
    licences = {Path(name).name for name in found.get_all("License-File", [])}
    assert licences == {"LICENSE", "CREDITS.md", "OFL.txt", "THIRD-PARTY.txt"}
    inside = {Path(name).name for name in archive.namelist() if ".dist-info/licenses/" in name}
    assert licences <= inside


def test_every_dependency_has_a_lower_bound() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert [one for one in project["dependencies"] if not re.match(r"[\w.-]+>=\d", one)] == []


def test_one_version_everywhere() -> None:
    assert f"version: {dpheatmap.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    dated = re.findall(r"^## \[(.+)\] - \d{4}-\d{2}-\d{2}$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert dated[0] == dpheatmap.__version__


class TestTag:
    """`scripts/tag` tags a commit whose names of the version agree, once, and nothing else."""

    @pytest.fixture
    def clone(self, tmp_path: Path) -> Path:
        for name in ("scripts/tag", "src/dpheatmap/__init__.py", "CITATION.cff", "CHANGELOG.md"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
        self.git(tmp_path, "init", "--quiet")
        self.commit(tmp_path)
        return tmp_path

    @staticmethod
    def git(folder: Path, *arguments: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        done = subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True)
        return done.stdout

    def commit(self, folder: Path) -> None:
        self.git(folder, "add", "--all")
        self.git(folder, "commit", "--quiet", "--allow-empty", "-m", "Change")

    @staticmethod
    def tag(folder: Path) -> subprocess.CompletedProcess[str]:
        who = {f"GIT_{role}_{what}": "a" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        return subprocess.run(["scripts/tag"], cwd=folder, env=os.environ | who, capture_output=True, text=True)

    def test_a_commit_is_tagged_once(self, clone: Path) -> None:
        assert self.tag(clone).returncode == 0
        assert self.git(clone, "tag").split() == [f"v{dpheatmap.__version__}"]
        again = self.tag(clone)
        assert again.returncode == 1
        assert "tagged already" in again.stderr

    @pytest.mark.parametrize(
        ("file", "old", "new"),
        [
            ("CHANGELOG.md", f"## [{dpheatmap.__version__}] - ", f"## [{dpheatmap.__version__}] "),
            ("CITATION.cff", f"version: {dpheatmap.__version__}", "version: 9.9.9"),
        ],
    )
    def test_versions_that_disagree_are_refused(self, clone: Path, file: str, old: str, new: str) -> None:
        text = (clone / file).read_text()
        assert old in text
        (clone / file).write_text(text.replace(old, new))
        self.commit(clone)
        refused = self.tag(clone)
        assert refused.returncode == 1
        assert file in refused.stderr
        assert self.git(clone, "tag") == ""

    def test_uncommitted_changes_are_refused(self, clone: Path) -> None:
        (clone / "CITATION.cff").write_text("")
        assert "not committed" in self.tag(clone).stderr


@pytest.mark.long
def test_packages_work_in_clean_environments() -> None:
    done = subprocess.run(["scripts/package"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(f"dpheatmap {dpheatmap.__version__} works on Python") >= 2


@pytest.mark.long
@pytest.mark.skipif(
    shutil.which("docker") is None or subprocess.run(["docker", "info"], capture_output=True).returncode != 0,
    reason="no Docker engine runs here",
)
def test_the_image_releases(tmp_path: Path) -> None:
    subprocess.run(["docker", "build", "--quiet", "--tag", "dpheatmap-test", "."], cwd=ROOT, check=True)
    mounted = ["docker", "run", "--rm", "--network", "none", "--user", str(os.getuid()), "-v", f"{tmp_path}:/data"]
    subprocess.run([*mounted, "dpheatmap-test", "demo", "--folder", "demo", "--no-open"], check=True)
    assert (tmp_path / "demo").is_dir()
