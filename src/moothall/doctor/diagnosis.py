"""All checks, in the order in which a report shows them."""

from moothall.doctor import machine, network, stores
from moothall.doctor.finding import Finding
from moothall.doctor.voice import check_voice
from moothall.settings import Settings


async def diagnose(settings: Settings) -> list[Finding]:
    """Check an installation. Changes nothing but an object store, which it stores a file to and deletes it from."""
    state, findings = await stores.database_state(settings)
    path = settings.database_path
    has_database = path.exists() if path is not None else state is not None and state.revision is not None
    key = machine.existing_key(settings)
    running, port = await network.check_port(settings, key)
    return [
        *machine.check_python(),
        *machine.check_clock(),
        *machine.check_data_folder(settings),
        *machine.check_disk(settings),
        *machine.check_key(settings, has_database=has_database),
        *findings,
        *(() if state is None else stores.check_database(settings, state)),
        *[finding async for finding in stores.check_files(settings)],
        *[finding async for finding in stores.check_bus(settings)],
        *machine.check_client(),
        *port,
        *network.check_trust(settings),
        *[finding async for finding in network.check_public_url(settings, key, running=running)],
        *[finding async for finding in check_voice(settings, running=running)],
    ]
