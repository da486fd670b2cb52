"""The mounts of one sandbox, as the fork server asks its broker for them."""
from __future__ import annotations

import errno
from dataclasses import replace

from ..trees import HAS_ONLY_CLASSIC_MOUNTS, Mount
from .broker import Broker
from .owned_mounts import Ids, OwnerNeeded


def make(broker: Broker, mounts: list[Mount], user: int, trees: list[int]) -> tuple[list[Mount], Ids | None]:
    """Mounts for a user that owns nothing, or for the owner of a folder whose file system cannot show another owner: then with the ids
    of the owner. Adds descriptors to `trees`; the caller closes them."""
    owner: Ids | None = None
    owned = ""
    made: list[Mount] = []
    for mount in mounts:
        try:
            made.append(_make(broker, mount, user, trees))
        except OwnerNeeded as needed:
            owner, owned = needed.owner, mount.path
            break
    if owner is None:
        return made, None
    made = []
    for mount in mounts:
        try:
            made.append(_make(broker, mount, owner, trees))
        except OwnerNeeded as needed:
            raise OSError(errno.EINVAL, f"'{owned}' belongs to {_name(owner)} and '{mount.path}' to {_name(needed.owner)}, and their file "
                                        "systems cannot show another owner") from None
    return made, owner


def _make(broker: Broker, mount: Mount, user: int | Ids, trees: list[int]) -> Mount:
    trees.append(broker.make_tree(mount, user))
    return mount if HAS_ONLY_CLASSIC_MOUNTS else replace(mount, tree=trees[-1])  # the init makes a classic mount itself


def _name(ids: Ids) -> str:
    return f"user {ids.user}, group {ids.group}"
