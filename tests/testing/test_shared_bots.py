"""Bots of a module or a session, with fresh guilds for each test."""

import pytest

from tests.testing.bot_projects import project, run

__all__ = ["project"]
pytest_plugins = ["pytester"]


@pytest.mark.parametrize("scope", ["module", "session"])
def test_the_bot_is_started_once_and_each_test_has_a_guild_of_its_own(
    project: pytest.Pytester, failing_bot: str, scope: str
) -> None:
    project.makepyfile(shared=failing_bot)
    run(
        project,
        f"""
        import pytest
        from moothall_testing import RefusedError

        guilds = []

        @pytest.fixture(scope="{scope}")
        def bot(moothall_{scope}):
            return moothall_{scope}.start_bot("shared:bot").wait()

        @pytest.mark.parametrize("number", range(3))
        def test_fresh(alice, moothall, guild, bot, number):
            assert guild.id not in guilds
            for before in guilds:
                with pytest.raises(RefusedError):
                    alice.call("GET", f"/guilds/{{before}}")
            guilds.append(guild.id)
            assert alice.messages().wait() == []
            assert moothall.entries() == [] or "!count" not in moothall.transcript()
            alice.says("!start" if number == 0 else "!count").awaits_reply(from_=bot).wait()
            moothall.advance(minutes=20).wait()
            alice.says("!count").assert_replied(str(3 + 2 * number), from_=bot).wait()
            moothall.fails("error", "POST /channels/*/messages", count=None).wait()
            if number == 1:
                moothall.expects_error(ValueError)
                alice.says("!fail").wait()

        async def test_more_people_and_channels(bot, moothall, alice, guild):
            carol = await moothall.create_person("carol")
            assert [each["id"] for each in moothall._world.info["guilds"]] == [guild.id]
            await carol.in_channel("random").says("!count").awaits_reply(from_=bot)
        """,
        passed=4,
    )


def test_after_the_module_tests_have_platforms_of_their_own_again(project: pytest.Pytester, failing_bot: str) -> None:
    project.makepyfile(
        shared=failing_bot,
        test_a="""
        import pytest

        @pytest.fixture(scope="module")
        def bot(moothall_module):
            return moothall_module.start_bot("shared:bot").wait()

        def test_it(bot, bob):
            bob.says("!count").awaits_reply().wait()
        """,
    )
    run(
        project,
        """
        def test_it(moothall, bob, guild):
            assert moothall.entries() == []
            assert bob.says("hello").awaits_silence(0.2).wait() is None
            assert "dispatch" not in {entry["kind"] for entry in moothall.entries()}
        """,
        "test_a.py", "test_bot.py",
        passed=2,
    )  # fmt: skip
