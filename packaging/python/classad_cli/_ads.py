"""Ads as arguments: files, text, dicts."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, List, Optional, Union

from ._values import json_of


class Text(str):
    """The text of ads, in any form that the program reads. A `str` alone is the name of a file."""


Ad = Mapping[str, Any]
# An iterable holds ads or names of files, not both.
Ads = Union[str, "os.PathLike[str]", bytes, Ad, Iterable[Union[str, "os.PathLike[str]", Ad]]]


class Source:
    """What an argument names: files, or ads in memory."""

    def __init__(self, argument: str, ads: Ads) -> None:
        self.argument = argument
        self.files: List[str] = []
        self.content: Optional[bytes] = None
        if isinstance(ads, bytes):
            self.content = ads
        elif isinstance(ads, Text):
            self.content = ads.encode()
        elif isinstance(ads, (str, os.PathLike)):
            self.files = [os.fspath(ads)]
        elif isinstance(ads, Mapping):
            self.content = json_of([ads])
        else:
            self._take_many(list(ads))

    def _take_many(self, ads: List[Any]) -> None:
        are_files = [isinstance(ad, (str, os.PathLike)) and not isinstance(ad, Text) for ad in ads]
        if ads and all(are_files):
            self.files = [os.fspath(ad) for ad in ads]
        elif any(are_files):
            raise TypeError(f"`{self.argument}` mixes names of files with ads")
        else:
            self.content = json_of(ads)

    def write_to(self, folder: str) -> None:
        """Put the ads in memory into a file, where the program cannot have them from its standard input."""
        if self.content is not None:
            path = Path(folder, self.argument)
            path.write_bytes(self.content)
            self.files = [str(path)]
