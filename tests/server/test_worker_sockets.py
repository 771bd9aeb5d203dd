"""The sockets between the processes of one machine are for their user alone."""

import stat

from moothall.app.cluster import WorkerCluster


def test_only_the_user_of_the_processes_reaches_their_sockets() -> None:
    cluster = WorkerCluster(2)
    try:
        assert stat.S_IMODE(cluster.folder.stat().st_mode) == 0o700
        for path in (cluster.events_path, cluster.requests_path):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        cluster.remove()
