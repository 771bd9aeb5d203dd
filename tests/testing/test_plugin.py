"""The pytest plugin, in runs of pytest of its own: every run is a project that tests a bot."""

import json

import pytest

from tests.testing.bot_projects import INI, project, run

__all__ = ["project"]

pytest_plugins = ["pytester"]


def test_synchronous_asyncio_and_trio_tests_all_wait_for_the_bot(project: pytest.Pytester) -> None:
    run(
        project,
        """
        import pytest

        @pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
        async def test_awaited(moothall, alice, anyio_backend):
            bot = await moothall.start_bot("mybot:client")
            reply = await alice.in_channel("general").says("ping").awaits_reply(from_=bot)
            assert reply.content == "pong"
            assert reply.author_id == bot.id

        def test_waited_for(moothall, bob):
            moothall.start_bot("mybot:client").wait()
            bob.says("ping").assert_replied("pong").wait()
        """,
        passed=3,
    )


def test_people_do_all_that_people_do(project: pytest.Pytester) -> None:
    run(
        project,
        """
        import pytest

        @pytest.fixture
        async def bot(moothall):
            return await moothall.start_bot("mybot:client")

        async def test_messages(bot, alice, bob):
            reply = await alice.says("ping").awaits_reply()
            assert reply.replies_to is not None
            message = await alice.says("typo")
            assert await alice.edits(message, "fixed").awaits_reaction() == "👀"
            await alice.reacts(message, "🗑️").awaits_deletion(message)
            upload = await bob.uploads("note.txt", b"12345").awaits_reply()
            assert upload.content == "5 bytes"
            await bob.says("nothing").awaits_silence(0.3)
            assert [each.content for each in await bob.messages()][-2:] == ["5 bytes", "nothing"]

        async def test_components(bot, alice, bob):
            message = await alice.says("choices").awaits_reply()
            assert message.buttons == ["Press", "Form"]
            assert (await alice.clicks(message, "Press").awaits_edit(message)).content == "pressed"
            assert (await alice.chooses(message, "Ant", select="animal").awaits_reply()).content == "animal a"
            assert (await alice.chooses(message, bob, select="user").awaits_reply()).content == "user bob"
            general = alice.channel_id
            assert (await alice.chooses(message, general, select="channel").awaits_reply()).content == "channel general"
            modal = await bob.clicks(message, "Form").awaits_modal()
            assert (modal.title, modal.fields) == ("Form", ["answer"])
            answer = await bob.submits(modal, answer="Bob").awaits_reply()
            assert (answer.content, answer.ephemeral) == ("Hello Bob", True)
            with pytest.raises(AssertionError, match="no button Pull"):
                await bob.clicks(message, "Pull")

        async def test_commands(bot, alice, bob):
            assert (await alice.runs("repeat", text="hi", whom=bob).awaits_reply()).content == "hi bob"
            assert (await alice.runs("role add", member=bob).awaits_reply()).content == "added bob"
            assert (await alice.runs("weigh", command=("a.bin", b"123")).awaits_reply()).content == "a.bin: 3"
            assert (await alice.runs_on_user("Greet", bob).awaits_reply()).content == "hello bob"
            message = await bob.says("12345")
            assert (await alice.runs_on_message("Count", message).awaits_reply()).content == "5"
            assert await alice.autocompletes("repeat", "text", text="ap") == ["apple", "apricot"]
            with pytest.raises(AssertionError, match="no command missing"):
                await alice.runs("missing")

        async def test_guild_poll_and_voice(bot, moothall, alice, bob, guild):
            carol = await moothall.create_person("carol", member=False)
            assert (await carol.joins().awaits_reply()).content == "welcome carol"
            await carol.leaves().awaits_event("GUILD_MEMBER_REMOVE", lambda data: data["user"]["id"] == carol.id)
            poll = {"question": {"text": "?"}, "answers": [{"poll_media": {"text": "Yes"}}], "duration": 1}
            asked = await alice.says("", poll=poll)
            await bob.votes(asked, "Yes").awaits_event("MESSAGE_POLL_VOTE_ADD")
            joined = await bob.joins_voice("Lounge").awaits_event("VOICE_STATE_UPDATE")
            assert joined["channel_id"] == guild.channels["Lounge"]
            left = await bob.leaves_voice().awaits_event("VOICE_STATE_UPDATE")
            assert left["channel_id"] is None
            written = await alice.in_direct_messages_with(bot)
            assert (await written.says("ping").awaits_reply()).content == "pong"
        """,
        passed=4,
    )


def test_every_test_begins_afresh_with_the_same_ids_and_tokens(project: pytest.Pytester) -> None:
    run(
        project,
        """
        import pathlib, pytest

        @pytest.mark.parametrize("number", [1, 2])
        def test_fresh(moothall, alice, guild, bot_app, number):
            assert alice.messages().wait() == []
            seen = f"{alice.id} {alice.token} {guild.id} {guild.channels} {bot_app.token}"
            path = pathlib.Path("seen.txt")
            assert number == 1 or path.read_text() == seen
            path.write_text(seen)
            alice.says("hello").wait()
            moothall.advance(hours=30).wait()
        """,
        passed=2,
    )


def test_a_failed_test_tells_what_came_instead_and_shows_the_transcript(project: pytest.Pytester) -> None:
    result = run(
        project,
        """
        async def test_wrong(moothall, alice):
            await moothall.start_bot("mybot:client")
            await alice.says("ping").awaits_reply(content="ding", within=0.5)
        """,
        "--moothall-artifacts", "artifacts",
        failed=1,
    )  # fmt: skip

    result.stdout.fnmatch_lines(["*no answer 'ding' within 0.5 s.*", "*MESSAGE_CREATE 'pong'*"])
    result.stdout.fnmatch_lines(["*Moothall transcript*", "*alice POST /channels/*/messages 200*"])
    (page,) = (project.path / "artifacts").glob("*.html")
    assert "MESSAGE_CREATE" in page.read_text(encoding="utf-8")
    (entries,) = (project.path / "artifacts").glob("*.json")
    assert any(each.get("name") == "READY" for each in json.loads(entries.read_text(encoding="utf-8")))


_CARELESS = """
    from moothall_testing import RefusedRequestWarning

    async def test_careless(moothall, alice):
        await moothall.start_bot("mybot:client")
        await alice.says("forbidden")
        await alice.says("ping").awaits_reply()

    async def test_expected(moothall, alice):
        moothall.expects(RefusedRequestWarning)
        await moothall.start_bot("mybot:client")
        await alice.says("forbidden")
        await alice.says("ping").awaits_reply()
"""


def test_what_a_bot_had_better_not_do_is_a_warning(project: pytest.Pytester) -> None:
    result = run(project, _CARELESS, "-W", "default::moothall_testing.BotWarning", passed=2, warnings=1)

    result.stdout.fnmatch_lines(["*RefusedRequestWarning: bot: DELETE /channels/1 was answered with 404*"])


def test_a_warning_can_be_an_error(project: pytest.Pytester) -> None:
    run(project, _CARELESS, "-W", "error::moothall_testing.RefusedRequestWarning", passed=2, errors=1)


def test_a_bot_whose_generators_end_slowly_is_stopped_in_silence(project: pytest.Pytester) -> None:
    project.makepyfile(
        slowbot="""
        import asyncio
        from mybot import client

        async def numbers():
            try:
                yield 1
            finally:
                client.ends = True
                await asyncio.sleep(0.5)

        @client.event
        async def on_ready():
            client.numbers = numbers()
            await anext(client.numbers)
        """
    )
    run(
        project,
        """
        from concurrent.futures import CancelledError
        from contextlib import suppress

        async def test_stop(moothall):
            bot = await moothall.start_bot("slowbot:client")
            while not hasattr(bot.client, "numbers"):
                await moothall.advance(seconds=1)
            with suppress(CancelledError):
                bot.run(bot.client.close())
            while not hasattr(bot.client, "ends"):
                await moothall.advance(seconds=1)

        def test_next():
            pass
        """,
        passed=2,
    )


def test_an_interaction_without_an_answer_ends_the_wait_and_is_a_warning(project: pytest.Pytester) -> None:
    run(
        project,
        """
        import pytest
        from moothall_testing import NoReaction, UnansweredInteractionWarning

        async def test_never(moothall, alice):
            await moothall.start_bot("mybot:client")
            with pytest.raises(NoReaction, match="/never> was not answered"):
                await alice.runs("never").awaits_reply(within=30)
            assert [type(each) for each in moothall.warnings()] == [UnansweredInteractionWarning]
            moothall.expects(UnansweredInteractionWarning)
        """,
        passed=1,
    )


def test_time_passes_without_waiting(project: pytest.Pytester) -> None:
    run(
        project,
        """
        async def test_timeout_and_poll(moothall, alice, bob, guild):
            poll = {"question": {"text": "?"}, "answers": [{"poll_media": {"text": "Yes"}}], "duration": 1}
            asked = await alice.says("", poll=poll)
            await moothall.advance(hours=25)
            (message, result) = await alice.messages()
            assert message.data["poll"]["results"]["is_finalized"]
            assert result.data["type"] == 46
            await alice.requests("PATCH", f"/channels/{alice.channel_id}", {"rate_limit_per_user": 3600})
            await bob.says("one")
            await moothall.advance(minutes=61)
            await bob.says("two")
        """,
        passed=1,
    )


def test_discord_py_survives_the_faults_as_its_documentation_promises(project: pytest.Pytester) -> None:
    run(
        project,
        """
        import asyncio
        import time

        import aiohttp
        import discord
        import pytest

        @pytest.fixture
        async def bot(moothall):
            return await moothall.start_bot("mybot:client")

        def gateway(moothall):
            return [each["name"] for each in moothall.entries() if each["kind"] == "gateway" and each.get("bot")]

        async def test_it_waits_for_a_rate_limit(moothall, alice, bot):
            await moothall.rate_limits("POST /channels/*/messages", retry_after=0.7)
            started = time.monotonic()
            await alice.says("ping").assert_replied("pong")
            assert time.monotonic() - started >= 0.7

        @pytest.mark.parametrize("status", [500, 502])
        async def test_it_sends_again_after_an_error(moothall, alice, bot, status):
            await moothall.fails("error", "POST /channels/*/messages", status=status)
            await alice.says("ping").assert_replied("pong", within=20)

        async def test_it_raises_what_it_does_not_repeat_and_goes_on(moothall, alice, guild, bot):
            route, channel = "POST /channels/*/messages", bot.client.get_channel(int(guild.channels["general"]))
            await moothall.fails("error", route, status=503)
            with pytest.raises(discord.DiscordServerError):
                bot.run(channel.send("unavailable"))
            await moothall.fails("drop", route)
            with pytest.raises(aiohttp.ServerDisconnectedError):
                bot.run(channel.send("cut off"))
            await moothall.fails("hang", route)
            with pytest.raises(TimeoutError):
                bot.run(asyncio.wait_for(channel.send("hanging"), 0.5))
            bot.run(channel.send("there"))
            assert [each.content for each in await alice.messages()] == ["there"]

        async def test_it_waits_for_a_limit_that_it_shares_with_others(moothall, alice, bot):
            await moothall.rate_limits("POST /channels/*/messages", retry_after=0.7, scope="shared")
            started = time.monotonic()
            await alice.says("ping").assert_replied("pong")
            assert time.monotonic() - started >= 0.7

        async def test_it_resumes_after_a_lost_connection(moothall, alice, bot):
            await moothall.breaks_gateway("drop")
            await alice.says("ping").assert_replied("pong", within=20)
            assert gateway(moothall) == ["IDENTIFY", "DISCONNECTED", "RESUME"]

        async def test_it_resumes_when_it_is_asked_to_reconnect(moothall, alice, bot):
            await moothall.breaks_gateway("reconnect")
            await alice.says("ping").assert_replied("pong", within=20)
            assert gateway(moothall)[1] == "RECONNECT"
            assert gateway(moothall)[-1] == "RESUME"

        async def test_it_sees_an_outage(moothall, alice, bot, guild):
            await moothall.begins_outage()
            deadline = time.monotonic() + 10
            while bot.client.get_guild(int(guild.id)) and not bot.client.get_guild(int(guild.id)).unavailable:
                assert time.monotonic() < deadline
            await moothall.ends_outage()
            await alice.says("ping").assert_replied("pong")

        async def test_an_event_that_comes_twice_is_answered_twice(moothall, alice, bot):
            await moothall.duplicates("MESSAGE_CREATE")
            await alice.says("ping").awaits_reply()
            deadline = time.monotonic() + 10
            while [each.content for each in await alice.messages()] != ["ping", "pong", "pong"]:
                assert time.monotonic() < deadline
        """,
        passed=9,
    )


def test_discord_py_survives_broken_sessions_and_slow_answers(project: pytest.Pytester) -> None:
    project.makeini(INI + "moothall_heartbeat_ms = 1000\n")
    run(
        project,
        """
        import asyncio
        import time

        import pytest

        @pytest.fixture
        async def bot(moothall):
            bot = await moothall.start_bot("mybot:client")
            # A connection without an answer counts as lost after a minute otherwise.
            bot.client.ws._keep_alive.heartbeat_timeout = 1.5
            return bot

        def gateway(moothall):
            return [each["name"] for each in moothall.entries() if each["kind"] == "gateway" and each.get("bot")]

        async def wait_for(moothall, name):
            deadline = time.monotonic() + 20
            while gateway(moothall)[-1] != name or len(gateway(moothall)) == 1:
                assert time.monotonic() < deadline, gateway(moothall)
                await asyncio.sleep(0.05)

        @pytest.mark.parametrize("action", ["half_open", "ignore_heartbeats"])
        async def test_it_notices_a_dead_connection_and_resumes(moothall, alice, bot, action):
            await moothall.breaks_gateway(action)
            await wait_for(moothall, "RESUME")
            await alice.says("ping").assert_replied("pong", within=20)

        async def test_it_resumes_after_a_close_with_a_code(moothall, alice, bot):
            await moothall.breaks_gateway("close", code=4000)
            await wait_for(moothall, "RESUME")
            await alice.says("ping").assert_replied("pong", within=20)

        async def test_it_identifies_anew_after_an_invalid_session(moothall, alice, bot):
            await moothall.breaks_gateway("invalid_session", resumable=False)
            await wait_for(moothall, "IDENTIFY")
            assert "INVALID_SESSION" in gateway(moothall)
            await alice.says("ping").assert_replied("pong", within=20)

        async def test_it_waits_for_a_global_rate_limit_slow_answers_and_late_events(moothall, alice, bot):
            await moothall.rate_limits("POST /channels/*/messages", retry_after=0.5, scope="global")
            started = time.monotonic()
            await alice.says("ping").assert_replied("pong", within=20)
            assert time.monotonic() - started >= 0.5
            await moothall.fails("slow", "POST /channels/*/messages", seconds=0.5)
            await moothall.delays("MESSAGE_CREATE", seconds=0.5)
            started = time.monotonic()
            await alice.says("ping").assert_replied("pong", within=20)
            assert time.monotonic() - started >= 1
        """,
        passed=5,
    )


def test_a_suite_can_run_in_rough_seas(project: pytest.Pytester) -> None:
    run(
        project,
        """
        async def test_anyway(moothall, alice):
            await moothall.start_bot("mybot:client")
            for _ in range(10):
                await alice.says("ping").awaits_reply(content="pong", within=30)
            assert any(each["kind"] == "fault" for each in moothall.entries())
        """,
        "--moothall-seas", "7",
        passed=1,
    )  # fmt: skip


def test_communities_come_from_files(project: pytest.Pytester) -> None:
    (project.path / "hall.yaml").write_text(
        "people: {zoe: {}}\nguilds:\n- {name: Hall, owner: zoe, channels: [{name: lobby}], members: {alice: []}}\n",
        encoding="utf-8",
    )
    run(
        project,
        """
        import json, pathlib, pytest

        @pytest.mark.moothall(fixture="hall.yaml")
        async def test_marked(moothall, alice):
            assert moothall.guild("Hall").owner == "zoe"
            await alice.in_channel(moothall.guild("Hall").channels["lobby"]).says("hello")
            dumped = await moothall.dump("dumped.json")
            assert dumped["guilds"][-1]["messages"] == [{"channel": "lobby", "author": "alice", "content": "hello"}]
            assert json.loads(pathlib.Path("dumped.json").read_text()) == dumped

        async def test_unmarked(moothall):
            with pytest.raises(LookupError):
                moothall.guild("Hall")
            await moothall.load("hall.yaml")
            assert moothall.person("zoe").name == "zoe"
        """,
        passed=2,
    )


def test_a_project_has_a_community_of_its_own(project: pytest.Pytester) -> None:
    project.makeini(INI + "moothall_fixture = hall.json\n")
    hall = {"people": {"zoe": {}}, "bots": {"keeper": {}}, "guilds": [{"name": "Hall", "members": {"keeper": []}}]}
    (project.path / "hall.json").write_text(json.dumps(hall), encoding="utf-8")

    run(
        project,
        """
        def test_own(moothall, guild, bot_app):
            assert (guild.name, guild.owner, bot_app.name) == ("Hall", "zoe", "keeper")
        """,
        passed=1,
    )


def test_workers_of_xdist_have_servers_of_their_own(project: pytest.Pytester) -> None:
    run(
        project,
        """
        import pytest

        @pytest.mark.parametrize("number", range(4))
        def test_apart(moothall, alice, number):
            alice.says(str(number)).wait()
            assert [each.content for each in alice.messages().wait()] == [str(number)]
        """,
        "-n", "2",
        passed=4,
    )  # fmt: skip


def test_a_bot_of_any_language_is_a_process(project: pytest.Pytester) -> None:
    project.makepyfile(
        other_bot="""
        import json, os, urllib.request
        from websockets.sync.client import connect

        with connect(os.environ["MOOTHALL_GATEWAY_URL"] + "?v=10&encoding=json", max_size=None) as socket:
            socket.recv()
            intents = int(os.environ.get("INTENTS", "33281"))
            identify = {"token": os.environ["TOKEN"], "intents": intents, "properties": {}}
            socket.send(json.dumps({"op": 2, "d": identify}))
            for text in socket:
                event = json.loads(text)
                if event["t"] == "MESSAGE_CREATE" and event["d"]["content"] == "ping":
                    url = f"{os.environ['MOOTHALL_API_URL']}/channels/{event['d']['channel_id']}/messages"
                    headers = {"Authorization": "Bot " + os.environ["TOKEN"], "Content-Type": "application/json"}
                    urllib.request.urlopen(urllib.request.Request(url, b'{"content": "pong"}', headers))
        """
    )
    run(
        project,
        """
        import sys

        import pytest
        from moothall_testing import BotFailed, MissingIntentWarning

        async def test_process(moothall, alice):
            bot = await moothall.start_process([sys.executable, "other_bot.py"])
            await alice.says("ping").assert_replied("pong", from_=bot)

        async def test_each_bot_is_warned_once_of_content_that_it_lacks(moothall, alice):
            await moothall.start_process([sys.executable, "other_bot.py"], environment={"INTENTS": "513"})
            await alice.says("ping")
            await alice.says("ping").awaits_silence(0.3)
            assert [type(each) for each in moothall.warnings()] == [MissingIntentWarning]
            moothall.expects(MissingIntentWarning)

        async def test_process_that_ends(moothall):
            with pytest.raises(BotFailed, match="(?s)no luck today.*before the end"):
                await moothall.start_process([sys.executable, "-c", "print('no luck today')"])
        """,
        passed=3,
    )


def test_a_bot_that_cannot_start_says_why(project: pytest.Pytester) -> None:
    project.makepyfile(broken="import discord\nclass Bot(discord.Client):\n    async def setup_hook(self): 1 / 0\n"
                       "client = Bot(intents=discord.Intents.none())\n")  # fmt: skip
    run(
        project,
        """
        import pytest
        from moothall_testing import BotFailed

        async def test_broken(moothall):
            with pytest.raises(BotFailed, match="ZeroDivisionError"):
                await moothall.start_bot("broken:client")
        """,
        passed=1,
    )


def test_a_bot_that_ends_while_it_is_stopped_leaves_nothing_unawaited(project: pytest.Pytester) -> None:
    """The thread lives on for a moment after its event loop is closed."""
    project.makepyfile(
        slow_end="""
        import asyncio
        import time

        import discord

        loop = asyncio.get_event_loop()
        close = loop.close

        def close_slowly():
            close()
            time.sleep(0.5)

        loop.close = close_slowly

        class Bot(discord.Client):
            async def setup_hook(self):
                1 / 0

        client = Bot(intents=discord.Intents.none())
        """
    )
    run(
        project,
        """
        import pytest
        from moothall_testing import BotFailed

        async def test_slow_end(moothall):
            with pytest.raises(BotFailed, match="ZeroDivisionError"):
                await moothall.start_bot("slow_end:client")
        """,
        passed=1,
    )
