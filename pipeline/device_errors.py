"""What can be wrong with a wish about a device; part of the tree that `errors.py` shows."""

from pipeline.errors import Permanent


class DeviceNotFound(Permanent):
    """No such device has ever sent anything (or it is not yours)."""

    code = "device_not_found"


class DeviceAmbiguous(Permanent):
    """Several sites have a device of this MAC: whose is meant must be said."""

    code = "device_ambiguous"
