"""SKUs are deleted with their application."""

from moothall.resources.application.operations import APPLICATION_DELETING
from moothall.resources.sku.operations import delete_skus_of_application

APPLICATION_DELETING.register(delete_skus_of_application)
