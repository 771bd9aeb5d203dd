"""Role connections end with authorizations and applications, linked roles with roles."""

from moothall.resources.application.authorization.operations import AUTHORIZATIONS_REVOKED
from moothall.resources.application.operations import APPLICATION_DELETING
from moothall.resources.guild.role.operations import ROLE_DELETED
from moothall.resources.role_connection.operations.connections import (
    delete_connections,
    delete_connections_of_application,
)
from moothall.resources.role_connection.operations.linked_roles import unlink_deleted_role

AUTHORIZATIONS_REVOKED.register(delete_connections)
APPLICATION_DELETING.register(delete_connections_of_application)
ROLE_DELETED.register(unlink_deleted_role)
