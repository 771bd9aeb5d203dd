"""Alert rules and the dashboard name metrics that there are, and a real Prometheus takes them."""

import json
import re
import shutil
import socket
import subprocess
import time
import urllib.request
from pathlib import Path
from urllib.parse import quote

import pytest
import yaml

from tests.support.serving import RunningServer

ROOT = Path(__file__).parents[2]
ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yml"
DASHBOARD = ROOT / "deploy" / "grafana" / "moothall.json"
RULES = yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"][0]["rules"]
PANELS = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
_METRIC = re.compile(r"\b(?:moothall|process)_\w+")
_NATS_ONLY = {"moothall_bus_connected"}
_OPTIONAL = {"moothall_event_loop_longest_stretch_seconds"}  # with slow_turn_ms

QUIET = """
evaluation_interval: 1m
rule_files: [{rules}]
tests:
  - interval: 1m
    input_series:
      - {{series: 'up{{job="moothall",instance="a"}}', values: '1x60'}}
      - {{series: 'up{{job="moothall",instance="b"}}', values: '0x60'}}
      - {{series: 'moothall_http_requests_total{{instance="a",row="get_guild",status="200"}}', values: '0+600x60'}}
      - {{series: 'moothall_http_requests_total{{instance="a",row="get_guild",status="500"}}', values: '0+1x60'}}
      - {{series: 'moothall_http_requests_total{{instance="b",row="get_guild",status="200"}}', values: '0+600x60'}}
      - {{series: 'moothall_http_requests_total{{instance="b",row="get_guild",status="500"}}', values: '0+60x60'}}
      - {{series: 'moothall_jobs_failed{{instance="a"}}', values: '0x60'}}
      - {{series: 'moothall_gateway_stalls{{instance="a"}}', values: '0x30 1x30'}}
    alert_rule_test:
      - eval_time: 30m
        alertname: MoothallDown
        exp_alerts:
          - exp_labels: {{severity: critical, job: moothall, instance: b}}
            exp_annotations:
              {{summary: b does not answer Prometheus., runbook: docs/operations.md#moothalldown}}
      - eval_time: 30m
        alertname: MoothallErrors
        exp_alerts:
          - exp_labels: {{severity: critical, instance: b}}
            exp_annotations:
              summary: More than one request in a hundred of b fails with 5xx.
              runbook: docs/operations.md#moothallerrors
      - {{eval_time: 30m, alertname: MoothallJobsFailed, exp_alerts: []}}
      - {{eval_time: 29m, alertname: MoothallDeliveryStalls, exp_alerts: []}}
      - eval_time: 40m
        alertname: MoothallDeliveryStalls
        exp_alerts:
          - exp_labels: {{severity: critical, instance: a}}
            exp_annotations:
              summary: The delivery of events stood still at a and was started again.
              runbook: docs/operations.md#moothalldeliverystalls
"""


def expressions() -> list[str]:
    return [rule["expr"] for rule in RULES] + [target["expr"] for panel in PANELS for target in panel["targets"]]


def test_each_alert_has_a_runbook() -> None:
    page = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    for rule in RULES:
        assert f"\n### {rule['alert']}\n" in page
        assert rule["annotations"]["runbook"] == f"docs/operations.md#{rule['alert'].lower()}"


def test_rules_and_panels_name_metrics_that_a_server_has(tmp_path: Path) -> None:
    with RunningServer(tmp_path / "data") as server, urllib.request.urlopen(f"{server.url}/metrics") as answer:  # noqa: S310
        names = set(_METRIC.findall(answer.read().decode()))
    # Histograms and labelled counters have lines from their first value on.
    names |= {"moothall_http_request_seconds_bucket", "moothall_commit_seconds_bucket", "moothall_http_requests_total"}
    names |= {"moothall_events_published_total"}
    named = {name for expression in expressions() for name in _METRIC.findall(expression)}
    assert named - names - _NATS_ONLY - _OPTIONAL == set()


@pytest.mark.skipif(shutil.which("promtool") is None, reason="there is no promtool here")
def test_prometheus_takes_the_rules_and_they_fire_when_they_are_to(tmp_path: Path) -> None:
    for arguments in (["check", "rules", str(ALERTS)], ["check", "config", str(ALERTS.with_name("prometheus.yml"))]):
        subprocess.run(["promtool", *arguments], check=True, capture_output=True)
    written = tmp_path / "rules_test.yml"
    written.write_text(QUIET.format(rules=ALERTS), encoding="utf-8")
    done = subprocess.run(["promtool", "test", "rules", str(written)], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("prometheus") is None, reason="there is no Prometheus here")
def test_a_real_prometheus_reads_a_server_and_understands_every_expression(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with RunningServer(tmp_path / "data") as server:
        shutil.copy(ALERTS, tmp_path / "alerts.yml")
        config = ALERTS.with_name("prometheus.yml").read_text(encoding="utf-8")
        config = config.replace("127.0.0.1:3333", server.url.removeprefix("http://").replace("localhost", "127.0.0.1"))
        (tmp_path / "prometheus.yml").write_text(config.replace("15s", "1s"), encoding="utf-8")
        process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={tmp_path / 'prometheus.yml'}",
                f"--storage.tsdb.path={tmp_path / 'tsdb'}",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            base, deadline = f"http://127.0.0.1:{port}/api/v1", time.monotonic() + 120
            while not (up := value_of(base, 'up{job="moothall"}')) or up[0]["value"][1] != "1":
                assert time.monotonic() < deadline, "Prometheus does not read the server"
                time.sleep(0.1)
            for expression in expressions():
                filled = expression.replace("$__rate_interval", "1m").replace("$instance", ".*")
                assert value_of(base, filled) is not None, expression
        finally:
            process.terminate()
            process.wait(30)


def value_of(base: str, expression: str) -> list[dict[str, list[str]]] | None:
    """The result of a query; None while there is no answer."""
    try:
        with urllib.request.urlopen(f"{base}/query?query={quote(expression)}", timeout=30) as answer:  # noqa: S310
            result: list[dict[str, list[str]]] = json.load(answer)["data"]["result"]
            return result
    except OSError:
        return None
