"""Instances end with their application, and when it has no Activity any more."""

from moothall.resources.activity.operations import ACTIVITY_EVENTS, end_instances, end_instances_of_application
from moothall.resources.application.operations import APPLICATION_CHANGED, APPLICATION_DELETING

APPLICATION_CHANGED.register(end_instances_of_application, fires=ACTIVITY_EVENTS)
APPLICATION_DELETING.register(end_instances, fires=ACTIVITY_EVENTS)
