"""The files that the platform serves and receives, each by the prefix of its path."""

import moothall.gateway.endpoints
import moothall.oauth2.endpoints  # noqa: F401 both register endpoints
from moothall.api.address_limits import AddressLimits
from moothall.api.context import Services
from moothall.app.services import base_url
from moothall.cdn.attachments import Attachments
from moothall.cdn.expressions import ExpressionFiles
from moothall.cdn.external import ExternalMedia
from moothall.cdn.harvests import HarvestFiles
from moothall.cdn.images import ImageFiles
from moothall.cdn.message_avatars import WebhookPictures
from moothall.cdn.rendition_cache import RenditionCache, RenditionSweeper
from moothall.cdn.uploads import UploadReceiver
from moothall.resources.harvest.links import ArchiveLinks
from moothall.runtime.asgi import Application
from moothall.runtime.outgoing import Outgoing
from moothall.settings import Settings
from moothall.storage.disk_cache import DiskCache


class FileRoutes:
    """What serves files: attachments, archives, images, media of other servers; and what receives uploads."""

    def __init__(self, settings: Settings, services: Services, limits: AddressLimits) -> None:
        blobs, links = services.blobs, services.links
        cache = DiskCache(settings.data / "scaled", settings.scaled_cache_bytes)
        self._renditions = RenditionCache(blobs, cache, limits)
        self.rendition_sweeper = RenditionSweeper(services.database, cache)
        self._external = ExternalMedia(
            links,
            Outgoing(
                allow_private=settings.allow_private_addresses,
                agent=f"Mozilla/5.0 (compatible; Moothall/1.0; +{base_url(settings)})",
                proxy=settings.link_previews_proxy_url,
                connections=ExternalMedia.CONNECTIONS,
                connections_per_host=ExternalMedia.CONNECTIONS_PER_HOST,
            ),
            DiskCache(settings.data / "external", settings.external_cache_bytes),
            limits,
        )
        images = ImageFiles(blobs, limits, WebhookPictures(services.database, links, self._external))
        self._routes: tuple[tuple[str | tuple[str, ...], Application], ...] = (
            (Attachments.PREFIX, Attachments(services.database, blobs, links, self._renditions, limits)),
            (UploadReceiver.PREFIX, UploadReceiver(services, limits)),
            (HarvestFiles.PREFIX, HarvestFiles(services.database, blobs, services.resources[ArchiveLinks])),
            (ExternalMedia.PREFIX, self._external),
            (ImageFiles.PREFIXES, images),
            (ExpressionFiles.PREFIXES, ExpressionFiles(services.database, blobs, images, limits)),
        )

    def find(self, path: str) -> Application | None:
        """What serves a path; None if it is no file's."""
        for prefix, serve in self._routes:
            if path.startswith(prefix):
                return serve
        return None

    def start(self) -> None:
        """Start what clears caches."""
        self.rendition_sweeper.start()
        self._external.start()

    async def stop(self) -> None:
        """Stop what clears caches, and close connections to other servers."""
        await self.rendition_sweeper.stop()
        await self._external.close()

    def close(self) -> None:
        """End the threads that scale images."""
        self._renditions.close()
