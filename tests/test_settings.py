"""Where settings come from, which source wins, and what is said of wrong ones."""

import base64
from collections.abc import Callable
from pathlib import Path

import pytest

from moothall.settings import TABLE, Settings, SettingsError, load

KEY = base64.b64encode(bytes(range(32))).decode()


@pytest.fixture
def toml(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a settings file and tells its path."""

    def write(text: str) -> Path:
        path = tmp_path / "moothall.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def problems(**sources: object) -> list[str]:
    """What `load` says is wrong."""
    with pytest.raises(SettingsError) as caught:
        load(**{"environ": {}, **sources})  # type: ignore[arg-type]  # each test gives sources of the right kind
    return caught.value.problems


def test_without_any_source_every_setting_has_its_default() -> None:
    assert load(environ={}) == Settings()
    assert Settings().port == 3333
    assert Settings().host == "127.0.0.1"
    assert Settings().data == Path("data")


def test_the_file_wins_over_defaults_the_environment_over_the_file_and_flags_over_all(
    toml: Callable[[str], Path],
) -> None:
    path = toml('port = 1\nhost = "file"\nworker_id = 1\n')
    environ = {"MOOTHALL_PORT": "2", "MOOTHALL_HOST": "environment"}

    settings = load({"port": "3"}, config=path, environ=environ)

    assert (settings.port, settings.host, settings.worker_id, settings.process_id) == (3, "environment", 1, None)


def test_the_environment_can_name_the_file_and_the_command_line_another(
    toml: Callable[[str], Path], tmp_path: Path
) -> None:
    path = toml("port = 1\n")
    other = tmp_path / "other.toml"
    other.write_text("port = 2\n")
    environ = {"MOOTHALL_CONFIG": str(path)}

    assert load(environ=environ).port == 1
    assert load(config=other, environ=environ).port == 2


def test_flags_that_were_not_given_leave_the_other_sources_alone() -> None:
    environ = {"MOOTHALL_PORT": "2", "MOOTHALL_RATE_LIMITS": "no"}

    settings = load({"port": None, "rate_limits": None, "trusted_proxies": None}, environ=environ)

    assert settings.port == 2
    assert settings.rate_limits is False


def test_a_flag_can_switch_on_what_the_environment_switched_off() -> None:
    assert load({"demo": True}, environ={"MOOTHALL_DEMO": "off"}).demo is True


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", True), ("true", True), ("YES", True), ("On", True), ("0", False), ("False", False), ("off", False)],
)
def test_switches_are_understood_as_people_write_them(text: str, value: bool) -> None:
    assert load(environ={"MOOTHALL_DEMO": text}).demo is value


def test_lists_stand_between_commas_in_the_environment_and_in_arrays_in_the_file(toml: Callable[[str], Path]) -> None:
    from_environment = load(environ={"MOOTHALL_TRUSTED_PROXIES": "10.0.0.0/8, ::1,"})
    from_file = load(config=toml('trusted_proxies = ["10.0.0.0/8", "::1"]'), environ={})

    assert from_environment.trusted_proxies == from_file.trusted_proxies == ("10.0.0.0/8", "::1")
    assert load(environ={"MOOTHALL_RESERVED_WORDS": ""}).reserved_words == ()


def test_an_empty_variable_leaves_an_optional_setting_empty() -> None:
    assert load(environ={"MOOTHALL_DATABASE_URL": ""}).database_url is None


def test_variables_for_the_test_suite_are_none_of_the_servers_business() -> None:
    assert load(environ={"MOOTHALL_TEST_POSTGRES": "postgresql://127.0.0.1/postgres"}) == Settings()


def test_a_path_may_begin_at_home() -> None:
    assert load(environ={"MOOTHALL_DATA": "~/moothall"}).data == Path.home() / "moothall"


def test_all_problems_of_all_sources_are_told_at_once_with_key_and_source(toml: Callable[[str], Path]) -> None:
    path = toml('prot = 1\nhost = 5\nworker_id = "1"\n')

    errors = problems(
        config=path,
        environ={"MOOTHALL_PORT": "99999", "MOOTHALL_LOG_LEVL": "info", "HOME": "/"},
        flags={"database_url": "mysql://h/x", "log_level": "loud", "trusted_proxies": ("10.0.0.0/33",)},
    )

    assert errors == [
        f"prot: no such setting; did you mean port? ({path})",
        f"host: Expected text, not 5 ({path})",
        f"worker_id: Expected a whole number, not '1' ({path})",
        "MOOTHALL_LOG_LEVL: no such setting; did you mean MOOTHALL_LOG_LEVEL? (environment)",
        "port: Expected a whole number <= 65535, not '99999' (MOOTHALL_PORT)",
        "database_url: Expected a URL that starts with postgresql:// or postgres:// or sqlite:// (--database-url)",
        "log_level: Expected debug, info, warning or error, not 'loud' (--log-level)",
        "trusted_proxies: Expected addresses or networks, like 10.0.0.0/8; not '10.0.0.0/33' (--trusted-proxy)",
    ]


@pytest.mark.parametrize("name", list(TABLE))
def test_no_setting_takes_a_table(name: str, toml: Callable[[str], Path]) -> None:
    errors = problems(config=toml(f"[{name}]\nx = 1\n"))

    assert len(errors) == 1
    assert errors[0].startswith(f"{name}: Expected ")


@pytest.mark.parametrize(
    "name", [name for name, setting in TABLE.items() if not (setting.nullable or setting.repeated)]
)
def test_no_setting_that_needs_a_value_takes_an_empty_one(name: str) -> None:
    assert len(problems(environ={TABLE[name].variable: ""})) == 1


@pytest.mark.parametrize("name", list(TABLE))
def test_every_setting_keeps_its_default_when_it_is_said_aloud(name: str) -> None:
    setting = TABLE[name]
    said = ",".join(setting.default) if setting.repeated else "" if setting.default is None else str(setting.default)

    assert load(environ={setting.variable: said}) == Settings()


def test_a_file_that_is_missing_or_no_toml_is_a_problem_not_a_traceback(
    toml: Callable[[str], Path], tmp_path: Path
) -> None:
    assert problems(config=tmp_path / "none.toml") == [
        f"config: cannot read {tmp_path / 'none.toml'}: No such file or directory"
    ]
    assert problems(config=toml("port = ")) == [
        f"config: {tmp_path / 'moothall.toml'} is no TOML: Invalid value (at end of document)"
    ]
    (tmp_path / "moothall.toml").write_bytes(b"\xff\xfe")
    assert len(problems(config=tmp_path / "moothall.toml")) == 1


@pytest.mark.parametrize("text", ["short", "not base64", base64.b64encode(bytes(31)).decode(), f"{KEY},x"])
def test_a_wrong_key_is_refused_without_being_repeated(text: str) -> None:
    assert problems(environ={"MOOTHALL_SECRET_KEY": text}) == [
        "secret_key: Expected base64 of 32 bytes (MOOTHALL_SECRET_KEY)"
    ]


def test_a_key_of_the_wrong_type_is_not_repeated_either(toml: Callable[[str], Path]) -> None:
    path = toml("secret_key = 123456")

    assert problems(config=path) == [f"secret_key: Expected text ({path})"]


def test_keys_and_passwords_stay_out_of_what_is_shown() -> None:
    settings = load(
        environ={"MOOTHALL_SECRET_KEY": f"{KEY},{KEY}", "MOOTHALL_DATABASE_URL": "postgresql://me:hunter2@host/db"}
    )

    assert KEY not in repr(settings)
    assert "hunter2" not in repr(settings)
    assert "postgresql://me:***@host/db" in repr(settings)
    assert settings.database_url == "postgresql://me:hunter2@host/db"


@pytest.mark.parametrize(
    "text", ["9100", "127.0.0.1", "127.0.0.1:", ":9100", "127.0.0.1:99999", "::1:9100", "a b:1", "h:1\n"]
)
def test_an_address_for_metrics_that_is_none_is_refused(text: str) -> None:
    assert problems(environ={"MOOTHALL_METRICS_LISTEN": text}) == [
        f"metrics_listen: Expected host:port, like 127.0.0.1:9100; not {text!r} (MOOTHALL_METRICS_LISTEN)"
    ]


@pytest.mark.parametrize(
    ("text", "address"),
    [("127.0.0.1:9100", ("127.0.0.1", 9100)), ("[::1]:0", ("::1", 0)), ("metrics.lan:1", ("metrics.lan", 1))],
)
def test_an_address_for_metrics_has_a_host_and_a_port(text: str, address: tuple[str, int]) -> None:
    assert load(environ={"MOOTHALL_METRICS_LISTEN": text}).metrics_address == address
    assert load(environ={"MOOTHALL_METRICS_LISTEN": ""}).metrics_address is None


def test_metrics_have_no_port_in_common_with_the_server() -> None:
    assert problems(environ={"MOOTHALL_METRICS_LISTEN": "10.0.0.1:3333"}) == [
        "metrics_listen: port 3333 is the server's own"
    ]
    assert problems(environ={"MOOTHALL_METRICS_LISTEN": "10.0.0.1:80", "MOOTHALL_PORT": "80"}) == [
        "metrics_listen: port 80 is the server's own"
    ]


@pytest.mark.parametrize("text", ["short", "with a space in it", "x" * 15, "\u00e9" * 20, "x" * 20 + "\n"])
def test_a_token_that_is_easily_guessed_is_refused_without_being_repeated(text: str) -> None:
    (problem,) = problems(environ={"MOOTHALL_METRICS_TOKEN": text})
    assert problem.startswith("metrics_token: Expected at least 16 letters, digits and signs")
    assert text not in problem
    token = "x" * 16
    assert token not in repr(load(environ={"MOOTHALL_METRICS_TOKEN": token}))


def test_a_password_stays_out_of_the_complaint_about_its_url() -> None:
    assert "hunter2" not in problems(environ={"MOOTHALL_DATABASE_URL": "mysql://me:hunter2@host/db"})[0]


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("MOOTHALL_PUBLIC_URL", "chat.example.org"),
        ("MOOTHALL_PUBLIC_URL", "https://"),
        ("MOOTHALL_PUBLIC_URL", "https://chat.example.org\n"),
        ("MOOTHALL_PUBLIC_URL", "https://chat.example.org\r\nx-header: 1"),
        ("MOOTHALL_PUBLIC_URL", "https://chat.exam ple.org"),
        ("MOOTHALL_GATEWAY_URL", "wss://chat.example.org/\tgateway"),
        ("MOOTHALL_NATS_URL", "http://localhost"),
        ("MOOTHALL_BLOB_URL", "/srv/files"),
        ("MOOTHALL_BLOB_URL", "file://"),
        ("MOOTHALL_DATABASE_URL", "postgresql:/name"),
    ],
)
def test_a_url_of_another_kind_is_refused(variable: str, value: str) -> None:
    assert "Expected a URL that starts with" in problems(environ={variable: value})[0]


def test_the_database_is_a_file_in_the_data_folder_unless_a_url_says_otherwise() -> None:
    assert load(environ={"MOOTHALL_DATA": "/srv"}).database == "sqlite:////srv/moothall.sqlite3"
    assert load(environ={"MOOTHALL_DATA": "/srv"}).database_path == Path("/srv/moothall.sqlite3")
    assert load(environ={"MOOTHALL_DATABASE_URL": "sqlite:////srv/x.db"}).database_path == Path("/srv/x.db")
    assert load(environ={"MOOTHALL_DATABASE_URL": "postgresql://host/db"}).database_path is None


def test_a_database_may_stand_behind_a_socket() -> None:
    url = "postgresql:///moothall?host=/var/run/postgresql"

    assert load(environ={"MOOTHALL_DATABASE_URL": url}).database_url == url


def test_only_peers_in_a_trusted_network_are_believed() -> None:
    settings = load(environ={"MOOTHALL_TRUSTED_PROXIES": "10.1.0.0/16,::1"})

    assert settings.trusts("10.1.2.3")
    assert settings.trusts("::1")
    assert not settings.trusts("10.2.0.1")
    assert not settings.trusts("a unix socket")
    assert not load(environ={}).trusts("127.0.0.1")


def test_every_setting_is_read_somewhere() -> None:
    package = Path(__file__).parents[1] / "src" / "moothall"
    source = "".join(
        path.read_text(encoding="utf-8") for path in package.rglob("*.py") if path != package / "settings.py"
    )
    # These are read through properties of Settings.
    through = {"data": "settings.database", "database_url": "settings.database", "trusted_proxies": "settings.trusts"}

    unread = [name for name in TABLE if through.get(name, f"settings.{name}") not in source]

    assert unread == []


def test_several_processes_need_a_database_that_they_can_share() -> None:
    environ = {"MOOTHALL_NATS_URL": "nats://127.0.0.1:4222"}
    (problem,) = problems(environ=environ)
    assert problem.startswith("nats_url: several processes cannot share an SQLite file")
    shared = load(environ={**environ, "MOOTHALL_DATABASE_URL": "postgresql://host/name"})
    assert shared.nats_url == "nats://127.0.0.1:4222"


MAIL = {
    "MOOTHALL_SMTP_HOST": "mail.example.org",
    "MOOTHALL_MAIL_FROM": "hall@example.org",
    "MOOTHALL_PUBLIC_URL": "https://hall.example.org",
}


def test_mail_needs_a_server_a_sender_and_the_url_of_its_links() -> None:
    assert load(environ=MAIL).smtp_tls == "starttls"
    assert problems(environ={"MOOTHALL_SMTP_HOST": "mail.example.org"}) == [
        "smtp_host: mail needs mail_from, the address that it is sent from",
        "smtp_host: mail needs public_url, which its links begin with",
    ]
    assert problems(environ={"MOOTHALL_MAIL_FROM": "hall@example.org"}) == ["mail_from: mail needs smtp_host"]
    for wrong in ("hall", "Hall <hall@example.org>", "hall@example.org\nBcc: x@example.org", "hall@münchen.example"):
        (problem,) = problems(environ={**MAIL, "MOOTHALL_MAIL_FROM": wrong})[:1]
        assert problem.startswith("mail_from: Expected an email address")


def test_the_password_of_the_mail_server_goes_nowhere_in_the_clear() -> None:
    login = {**MAIL, "MOOTHALL_SMTP_USER": "hall", "MOOTHALL_SMTP_PASSWORD": "mail-secret"}
    assert "mail-secret" not in repr(load(environ=login))
    assert problems(environ={**login, "MOOTHALL_SMTP_TLS": "none"}) == [
        "smtp_tls: none would send smtp_password in the clear"
    ]
    assert load(environ={**login, "MOOTHALL_SMTP_TLS": "none", "MOOTHALL_SMTP_HOST": "localhost"}).smtp_user == "hall"
    assert problems(environ={**MAIL, "MOOTHALL_SMTP_USER": "hall"}) == [
        "smtp_user: a login needs smtp_user and smtp_password"
    ]


def test_registration_was_a_switch_once_and_is_still_read_as_one(toml: Callable[[str], Path]) -> None:
    assert load(config=toml("registration = false\n"), environ={}).registration == "closed"
    assert load(environ={"MOOTHALL_REGISTRATION": "true"}).registration == "open"
    assert load(environ={"MOOTHALL_REGISTRATION": "approval"}).registration == "approval"
    (problem,) = problems(environ={"MOOTHALL_REGISTRATION": "friends"})
    assert problem.startswith("registration: Expected open, token, domain, approval or closed")


def test_registration_by_domain_needs_domains_and_mail() -> None:
    assert problems(environ={"MOOTHALL_REGISTRATION": "domain"}) == [
        "registration: domain needs registration_domains",
        "registration: domain needs smtp_host, as addresses are confirmed by mail",
    ]
    settings = {**MAIL, "MOOTHALL_REGISTRATION": "domain", "MOOTHALL_REGISTRATION_DOMAINS": "a.example,b.example"}
    assert load(environ=settings).registration_domains == ("a.example", "b.example")
    for wrong in ("@a.example", "A.example", "nodot", "münchen.example"):
        (problem,) = problems(environ={**settings, "MOOTHALL_REGISTRATION_DOMAINS": wrong})[:1]
        assert problem.startswith("registration_domains: Expected domains")
    (problem,) = problems(environ={"MOOTHALL_REGISTRATION_BLOCKED_NETWORKS": "here"})
    assert problem.startswith("registration_blocked_networks: Expected addresses or networks")


def test_new_guilds_get_features_that_they_cannot_choose_themselves_and_no_others() -> None:
    assert load(environ={"MOOTHALL_GUILD_FEATURES": "BANNER, VANITY_URL"}).guild_features == ("BANNER", "VANITY_URL")
    for wrong in ("BANER", "COMMUNITY"):
        with pytest.raises(SettingsError, match=wrong):
            load(environ={"MOOTHALL_GUILD_FEATURES": wrong})


def test_a_style_sheet_that_cannot_be_read_is_refused_at_the_start(tmp_path: Path) -> None:
    large = tmp_path / "large.css"
    large.write_bytes(b" " * 100_001)
    for path, reason in ((tmp_path / "none.css", "a file that can be read"), (large, "at most 100000 bytes")):
        (problem,) = problems(environ={"MOOTHALL_THEME_CSS": str(path)})
        assert reason in problem
