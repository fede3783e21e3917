"""Pages of the site that are not Markdown alone; a hook of mkdocs.yml.

The example notebook becomes a page, with the outputs that are stored in it. In docstrings, roles of Sphinx such as
``:func:`release` `` become links.
"""

from __future__ import annotations

import base64
import re
from typing import Any

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ANSI = re.compile(r"\x1b\[[0-9;]*m")
OUTPUTS: dict[str, list[str]] = {}
"""HTML of outputs by page; it joins the page after Markdown, which would alter it."""
ROLE = re.compile(r":(?:attr|class|exc|func|meth|mod):<code>~?([\w.]+)</code>")


class NotebookFile(File):
    """A notebook that is a page of the site."""

    def is_documentation_page(self) -> bool:
        """Whether pages may link to it, and it has a place in the navigation."""
        return True


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Put a page in the place of each notebook."""
    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        files.remove(file)
        page = NotebookFile(file.src_uri, file.src_dir, config.site_dir, config.use_directory_urls)
        page.content_string = markdown(page.src_uri, nbformat.read(str(file.abs_src_path), as_version=4))
        files.append(page)
    return files


def on_page_content(html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put the outputs of a notebook where their cells are, and links where docstrings have roles."""
    for number, output in enumerate(OUTPUTS.get(page.file.src_uri, [])):
        html = html.replace(f"<p>{mark(number)}</p>", f'<div class="notebook-output">{output}</div>')
    known = set(re.findall(r'id="(dpheatmap\.[\w.]+)"', html))
    return ROLE.sub(lambda role: linked(role[1], known), html)


def linked(name: str, known: set[str]) -> str:
    """The name of a function or class, with a link if it is on the page."""
    target = f"dpheatmap.{name.removeprefix('dpheatmap.')}"
    return f'<a href="#{target}"><code>{name}</code></a>' if target in known else f"<code>{name}</code>"


def markdown(name: str, notebook: Any) -> str:
    """The cells as Markdown, with a mark for each output."""
    outputs = OUTPUTS[name] = []
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            data = output.get("data", {"text/plain": output.get("text", "")})
            if "text/html" not in data and "image/png" not in data:
                parts.append(f"```text\n{ANSI.sub('', data['text/plain']).rstrip()}\n```")
                continue
            parts.append(mark(len(outputs)))
            outputs.append(data.get("text/html") or picture(data["image/png"]))
    return "\n\n".join(parts)


def mark(number: int) -> str:
    """What stands for an output while Markdown is made to HTML."""
    return f"NOTEBOOKOUTPUT{number}END"


def picture(encoded: str) -> str:
    """A stored picture as an element of the page."""
    whole = base64.b64encode(base64.b64decode(encoded)).decode()
    return f'<img alt="The figure that the cell above draws" src="data:image/png;base64,{whole}">'
