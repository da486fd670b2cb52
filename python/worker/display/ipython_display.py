"""Replaces ``IPython.display`` if IPython is not installed: the classes that code written for notebooks uses.

Also served as ``IPython`` and a few of its modules (import_hooks.py). The objects hold data and implement the display
protocol.
"""

import html
import json
import os
from typing import Any, Dict, Optional

from rlm_display import (  # noqa: F401
    DisplayHandle,
    clear_output,
    display,
    publish_display_data,
    set_figure_formats,
    update_display,
)

__version__ = "0.0.0"
version_info = (0, 0, 0, "")
set_matplotlib_formats = set_figure_formats


def get_ipython() -> None:
    """There is no IPython shell."""
    return None


class DisplayObject:
    """Data of one MIME type, given directly, by file name or by URL."""

    mime = "text/plain"

    def __init__(self, data: Any = None, url: Optional[str] = None, filename: Any = None, metadata: Any = None) -> None:
        self.url = url
        self.filename = filename
        self.metadata = metadata or {}
        self.data = data
        if data is None and filename is not None:
            self.data = self._read(os.fspath(filename))
        elif data is None and url is not None:
            self.data = self._read_url(url)

    def __repr__(self) -> str:
        return f"<IPython.core.display.{type(self).__name__} object>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Dict[str, Any]:
        return {self.mime: self.data}

    def _read(self, path: str) -> Any:
        with open(path, encoding="utf-8") as file:
            return file.read()

    def _read_url(self, url: str) -> Any:
        from urllib.request import urlopen

        with urlopen(url) as response:
            return response.read().decode("utf-8", "replace")


class Pretty(DisplayObject):
    def __repr__(self) -> str:
        return str(self.data)


class HTML(DisplayObject):
    mime = "text/html"


class Markdown(DisplayObject):
    mime = "text/markdown"


class Latex(DisplayObject):
    mime = "text/latex"


class Math(DisplayObject):
    """A formula, with or without dollar signs."""

    mime = "text/latex"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Dict[str, Any]:
        return {self.mime: "$\\displaystyle %s$" % str(self.data).strip("$")}


class SVG(DisplayObject):
    mime = "image/svg+xml"

    def __init__(self, data: Any = None, url: Optional[str] = None, filename: Any = None, metadata: Any = None) -> None:
        if isinstance(data, str) and not data.lstrip().startswith("<"):
            data, filename = None, data
        super().__init__(data, url, filename, metadata)


class Javascript(DisplayObject):
    mime = "application/javascript"


class JSON(DisplayObject):
    mime = "application/json"

    def __init__(self, data: Any = None, url: Any = None, filename: Any = None, *_args: Any, **_options: Any) -> None:
        super().__init__(data, url, filename)
        if isinstance(self.data, str):
            self.data = json.loads(self.data)


class Code(DisplayObject):
    def __init__(self, data: Any = None, url: Any = None, filename: Any = None, language: Optional[str] = None) -> None:
        super().__init__(data, url, filename)
        self.language = language

    def __repr__(self) -> str:
        return str(self.data)

    def _repr_html_(self) -> str:
        return f"<pre><code>{html.escape(str(self.data))}</code></pre>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Dict[str, Any]:
        return {}


class IFrame:
    def __init__(self, src: str, width: Any, height: Any, **_options: Any) -> None:
        self.src, self.width, self.height = src, width, height

    def _repr_html_(self) -> str:
        source = html.escape(str(self.src))
        return f'<iframe width="{self.width}" height="{self.height}" src="{source}" frameborder="0"></iframe>'


SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"RIFF", "image/webp"),
)


class Image(DisplayObject):
    """An image by its bytes or file name. An image at a URL is linked, not fetched, unless ``embed`` is set."""

    def __init__(
        self,
        data: Any = None,
        url: Optional[str] = None,
        filename: Any = None,
        format: Optional[str] = None,
        embed: Optional[bool] = None,
        width: Any = None,
        height: Any = None,
        **_options: Any,
    ) -> None:
        if isinstance(data, (str, os.PathLike)):
            name = os.fspath(data)
            if name.startswith(("http://", "https://")):
                data, url = None, name
            else:
                data, filename = None, name
        self.link = url if url is not None and not embed else None
        self.format = format
        self.width, self.height = width, height
        super().__init__(data, None if self.link else url, filename)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Dict[str, Any]:
        if self.link is not None:
            size = "".join(f' {name}="{n}"' for name, n in (("width", self.width), ("height", self.height)) if n)
            return {"text/html": f'<img src="{html.escape(self.link)}"{size}/>'}
        return {self._mime(): self.data}

    def _mime(self) -> str:
        if self.format is not None:
            return f"image/{self.format.lower().replace('jpg', 'jpeg')}"
        data = bytes(self.data[:16])
        return next((mime for start, mime in SIGNATURES if data.startswith(start)), "image/png")

    def _read(self, path: str) -> bytes:
        with open(path, "rb") as file:
            return file.read()

    def _read_url(self, url: str) -> bytes:
        from urllib.request import urlopen

        with urlopen(url) as response:
            return response.read()


if __name__ == "IPython":
    import IPython.display  # noqa: F401  replaces the function of that name, as in IPython
