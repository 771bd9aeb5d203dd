"""An S3 bucket over HTTP, with the requests that Blobs uses."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from xml.sax.saxutils import escape

from aiohttp import web


class Bucket:
    """Objects by key; unfinished multipart uploads by id."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.uploads: dict[str, dict[int, bytes]] = {}
        self.requests: list[str] = []

    async def handle(self, request: web.Request) -> web.Response:
        """Answer one request."""
        key, query = request.match_info["key"], request.query
        self.requests.append(f"{request.method} {key}")
        if request.method == "POST":
            return await self._post(request, key)
        if request.method == "PUT":
            data = await request.read()
            if "uploadId" in query:
                self.uploads[query["uploadId"]][int(query["partNumber"])] = data
            else:
                self.objects[key] = data
            return web.Response(headers={"ETag": '"1"'})
        if request.method == "DELETE":
            removed: object = self.uploads.pop(query["uploadId"], None) if "uploadId" in query else None
            removed = removed or self.objects.pop(key, None)
            return web.Response(status=204)
        if not key:
            return self._listed(query.get("prefix", ""))
        if key not in self.objects:
            return web.Response(status=404)
        return self._served(request, self.objects[key])

    async def _post(self, request: web.Request, key: str) -> web.Response:
        query = request.query
        if "uploads" in query:
            upload = f"upload{len(self.requests)}"
            self.uploads[upload] = {}
            return _xml(f"<InitiateMultipartUploadResult><UploadId>{upload}</UploadId></InitiateMultipartUploadResult>")
        if "delete" in query:
            text = (await request.read()).decode()
            names = [part.partition("</Key>")[0] for part in text.split("<Key>")[1:]]
            for name in names:
                self.objects.pop(name, None)
            deleted = "".join(f"<Deleted><Key>{escape(name)}</Key></Deleted>" for name in names)
            return _xml(f"<DeleteResult>{deleted}</DeleteResult>")
        parts = self.uploads.pop(query["uploadId"])
        self.objects[key] = b"".join(parts[number] for number in sorted(parts))
        return _xml('<CompleteMultipartUploadResult><ETag>"1"</ETag></CompleteMultipartUploadResult>')

    def _listed(self, prefix: str) -> web.Response:
        rows = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{len(data)}</Size><ETag>1</ETag>"
            "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
            for key, data in sorted(self.objects.items())
            if key.startswith(prefix)
        )
        return _xml(f"<ListBucketResult><IsTruncated>false</IsTruncated>{rows}</ListBucketResult>")

    @staticmethod
    def _served(request: web.Request, data: bytes) -> web.Response:
        headers = {"ETag": '"1"', "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT"}
        byte_range = request.headers.get("Range")
        if byte_range is None:
            return web.Response(body=data, headers=headers)
        first, _, last = byte_range.removeprefix("bytes=").partition("-")
        end = min(int(last or len(data)), len(data) - 1)
        headers["Content-Range"] = f"bytes {first}-{end}/{len(data)}"
        return web.Response(status=206, body=data[int(first) : end + 1], headers=headers)


def _xml(text: str) -> web.Response:
    return web.Response(text=text, content_type="application/xml")


def bucket_settings(url: str) -> dict[str, str]:
    """The variables by which a server uses the bucket at a URL, as `s3://bucket`."""
    return {
        "AWS_ENDPOINT_URL": url,
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": "id",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "nowhere",
    }


@asynccontextmanager
async def bucket_at() -> AsyncIterator[tuple[Bucket, str]]:
    """A bucket and the URL of its server."""
    bucket = Bucket()
    app = web.Application(client_max_size=1 << 30)
    app.router.add_route("*", "/bucket{slash:/?}{key:.*}", bucket.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    try:
        yield bucket, f"http://127.0.0.1:{port}"
    finally:
        await runner.cleanup()
