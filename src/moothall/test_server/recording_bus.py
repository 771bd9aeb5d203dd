"""The bus of the test server: records each event, and lets some be late or come twice."""

import asyncio
from collections.abc import Sequence

from moothall.bus import Audience, Envelope
from moothall.bus.local import LocalBus
from moothall.test_server.faults import Faults
from moothall.test_server.transcript import Transcript


class RecordingBus(LocalBus):
    """A LocalBus with a transcript and faults."""

    def __init__(self, transcript: Transcript, faults: Faults) -> None:
        super().__init__()
        self._transcript = transcript
        self._faults = faults

    def publish(self, envelopes: Sequence[Envelope]) -> None:
        """Record the envelopes and publish those that are not late, some of them twice."""
        for envelope in envelopes:
            if envelope.audience is Audience.NODE:
                super().publish([envelope])
                continue
            user_ids = [str(int(user_id)) for user_id in envelope.user_ids]
            self._transcript.add_event(envelope.name, bytes(envelope.data), user_ids)
            fault = self._faults.for_event(envelope.name)
            if fault is None:
                super().publish([envelope])
                continue
            self._transcript.add("fault", name=fault.kind, text=envelope.name)
            if fault.kind == "late_event":
                asyncio.get_running_loop().call_later(fault.seconds, super().publish, [envelope])
            else:
                super().publish([envelope])
                super().publish([envelope])
