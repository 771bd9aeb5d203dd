"""Jobs: work that outlives its request, enqueued in the request's transaction and done in steps after it.

A job is a row of `jobs`, so a crash loses none: any process continues after the last step. A step is a short
transaction of its own, so that a job of an hour delays requests by milliseconds only. Steps of one job run one after
another, in one process at a time. A step that fails is retried with backoff; after `MAX_ATTEMPTS` failures in a row the
job is failed, and remains until `moothall jobs retry` or `drop`.
"""

from moothall.api.jobs.kinds import KINDS, MAX_TRANSACTION_MS, Job, job
from moothall.api.jobs.operations import enqueue, enqueue_later
from moothall.api.jobs.runner import MAX_ATTEMPTS, JobRunner

__all__ = ["KINDS", "MAX_ATTEMPTS", "MAX_TRANSACTION_MS", "Job", "JobRunner", "enqueue", "enqueue_later", "job"]
