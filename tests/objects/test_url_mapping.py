"""URL mappings of Activities: which target a path belongs to."""

import pytest

from moothall.objects.activity import UrlMapping, read_instance_id, read_location
from moothall.objects.url_mapping import UrlMap, prefix_error, target_error


def target_of(mappings: dict[str, str], path: str) -> str | None:
    mapped = UrlMap([UrlMapping(prefix, target) for prefix, target in mappings.items()]).find(path)
    return None if mapped is None else mapped.authority + mapped.path


MAPPINGS = {
    "/": "app.example.com",
    "/api": "api.example.com:8443/v1",
    "/api/files": "files.example.com",
    "/maps/{region}": "{region}.maps.example.com",
    "/maps/eu": "europe.example.com/",
    "/user/{name}/pictures": "pictures.example.com/of/{name}",
}


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("/", "app.example.com/"),
        ("/index.html", "app.example.com/index.html"),
        ("/apiary", "app.example.com/apiary"),
        ("/api", "api.example.com:8443/v1"),
        ("/api/", "api.example.com:8443/v1/"),
        ("/api/a%20b/c", "api.example.com:8443/v1/a%20b/c"),
        ("/api/files/x", "files.example.com/x"),
        ("/api/files", "files.example.com/"),
        ("/maps/us/tile", "us.maps.example.com/tile"),
        ("/maps/eu/tile", "europe.example.com/tile"),
        ("/maps", "app.example.com/maps"),
        ("/user/ann/pictures/1", "pictures.example.com/of/ann/1"),
        ("/.proxy/api/x", "api.example.com:8443/v1/x"),
        ("/.proxy", "app.example.com/"),
        ("/.proxy/", "app.example.com/"),
        ("/.proxyx", "app.example.com/.proxyx"),
    ],
)
def test_the_longest_prefix_decides(path: str, target: str) -> None:
    assert target_of(MAPPINGS, path) == target


@pytest.mark.parametrize(
    "path",
    ["/api/../x", "/%2e%2e/x", "/api/%2E%2e%2fx", "/api/..%5cx", "/./x", "x", "", "/.proxy/../x"],
)
def test_paths_with_dot_segments_belong_to_no_target(path: str) -> None:
    assert target_of(MAPPINGS, path) is None


@pytest.mark.parametrize("value", ["a.evil.com%2f", "evil.com%23", "a@b", "a:80", "[::1]", "-a", "a%00", "a b"])
def test_a_parameter_fills_one_label_of_a_host_name(value: str) -> None:
    assert target_of({"/": "x.example.com", "/m/{host}": "{host}.example.com"}, f"/m/{value}") is None


def test_no_mapping_fits_a_path_without_the_root() -> None:
    assert target_of({"/api": "api.example.com"}, "/x") is None


@pytest.mark.parametrize("prefix", ["", "api", "/a b", "//", "/a/../b", "/.proxy", "/.proxy/x", "/{a}/{a}", "/a?b"])
def test_invalid_prefixes_are_refused(prefix: str) -> None:
    assert prefix_error(prefix) is not None


@pytest.mark.parametrize("prefix", ["/", "/api", "/api/", "/a-b/_c.d/~e", "/m/{region}/x"])
def test_valid_prefixes(prefix: str) -> None:
    assert prefix_error(prefix) is None


@pytest.mark.parametrize(
    "target",
    ["https://a.com", "", "a b", "a.com:0", "a.com:65536", "a@b.com", "{x}.com", "a.com?x", "a.com#x", "/a", "a..com"],
)
def test_invalid_targets_are_refused(target: str) -> None:
    assert target_error(UrlMapping("/m/{region}", target)) is not None


@pytest.mark.parametrize("target", ["a.com", "localhost:5173", "a.com/x/", "{region}.a.com/{region}", "[::1]:80"])
def test_valid_targets(target: str) -> None:
    assert target_error(UrlMapping("/m/{region}", target)) is None


def test_ids_of_instances_and_locations_are_read_back() -> None:
    reference = read_instance_id("i-1-gc-2-3")
    assert reference is not None
    assert tuple(map(int, (reference.instance_id, reference.guild_id or 0, reference.channel_id))) == (1, 2, 3)
    assert reference.wire() == "i-1-gc-2-3"
    assert read_location("pc-3") == (None, 3)
    for text in ("gc-3", "pc-1-2", "i-1-pc-x", "", "i-1", f"i-{1 << 63}-pc-1"):
        assert read_instance_id(text) is None
        assert read_location(text) is None
