# SPDX-License-Identifier: Apache-2.0
"""What can go wrong, as exceptions. Each carries the library's text, with the values and a remedy."""
from . import _core


class Error(RuntimeError):
    """Any failure of Wavetile."""


class VerificationError(Error):
    """A result is wrong."""


class BadInputError(Error, ValueError):
    """The caller's text, value or array."""


class UnsupportedError(Error, NotImplementedError):
    """Valid, but nothing here can do it."""


class DeviceError(Error):
    """A driver, a device or its memory."""


class CompileError(Error):
    """A kernel compiler refused, or is absent."""


class FileError(Error, OSError):
    """A file or folder."""


class OutOfMemoryError(Error, MemoryError):
    """The host's memory."""


class InternalError(Error):
    """A fault of the library; please report it with the text."""


# In the order of wavetile_status; 0 is success.
_core.set_errors((Error, VerificationError, BadInputError, UnsupportedError, DeviceError, CompileError, FileError,
                  OutOfMemoryError, InternalError))
