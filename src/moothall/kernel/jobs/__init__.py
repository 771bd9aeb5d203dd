"""Jobs: work that outlives its request, enqueued in the request's transaction and done in steps after it.

A job is a row of `jobs`, so a crash loses none: any process goes on where the last step ended. A step is a
short transaction of its own, so that a job of an hour delays requests by milliseconds only. Steps of one job
run one after another, in one process at a time. A step that fails is retried after growing delays; after
`MAX_ATTEMPTS` failures in a row the job is failed, and waits for `moothall jobs retry` or `drop`.
"""

from moothall.kernel.jobs.kinds import KINDS, SETTLED_MS, Job, job
from moothall.kernel.jobs.operations import enqueue
from moothall.kernel.jobs.runner import MAX_ATTEMPTS, JobRunner

__all__ = ["KINDS", "MAX_ATTEMPTS", "SETTLED_MS", "Job", "JobRunner", "enqueue", "job"]
