"""Length-prefixed frames over a stream socket."""

from __future__ import annotations

import socket
import struct

from .codec import MAXIMUM_BYTES

_HEADER = struct.Struct("!I")


class ChannelClosed(Exception):
    """The other side is gone, or sent a frame larger than allowed."""


class Channel:
    """One side of a connection; frames are bytes of at most `MAXIMUM_BYTES`, larger ones only when trusted."""

    def __init__(self, connection: socket.socket, limit: int = MAXIMUM_BYTES) -> None:
        self._socket, self._limit = connection, limit
        self._buffer = bytearray()

    def send(self, data: bytes) -> None:
        """Send one frame."""
        try:
            self._socket.sendall(_HEADER.pack(len(data)) + data)
        except OSError:
            raise ChannelClosed from None

    def send_several(self, frames: list[bytes]) -> None:
        """Send frames together."""
        try:
            self._socket.sendall(b"".join(_HEADER.pack(len(data)) + data for data in frames))
        except OSError:
            raise ChannelClosed from None

    def receive(self) -> bytes:
        """Wait for one frame."""
        while (frame := self.buffered_frame()) is None:
            self.fill()
        return frame

    def fill(self) -> None:
        """Read once from the socket into the buffer."""
        try:
            data = self._socket.recv(1 << 16)
        except OSError:
            data = b""
        if not data:
            raise ChannelClosed
        self._buffer += data

    def buffered_frame(self) -> bytes | None:
        """Return the next whole frame that was already read, else None."""
        if len(self._buffer) < _HEADER.size:
            return None
        (length,) = _HEADER.unpack_from(self._buffer)
        if length > self._limit:
            raise ChannelClosed
        end = _HEADER.size + length
        if len(self._buffer) < end:
            return None
        frame = bytes(self._buffer[_HEADER.size : end])
        del self._buffer[:end]
        return frame
