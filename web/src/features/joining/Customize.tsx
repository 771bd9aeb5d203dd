import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { getOnboarding, submitOnboarding, type Onboarding } from "../../api/joining";
import type { Part } from "../../i18n/messages";
import { useText, WithTexts } from "../../i18n/translate";
import { channelGroupsOf } from "../../store/channelChoice";
import { ChannelOverrideFlags, GuildSettingsFlags } from "../../store/settings";
import type { GuildState } from "../../store/state";
import { Switch } from "../../ui/fields";
import { changeChannelSettings, changeGuildSettings } from "../notifications/mute";
import { ErrorNotice } from "../session/ErrorNotice";
import { Queries } from "../session/queries";
import { useAppState, useDerived, useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { Prompt } from "./Prompt";
import { isUnanswered } from "./responses";
import "./joining.css";

const PARTS: readonly Part[] = ["joining"];

/** The questions of a guild with the user's answers, and the channels in their list. */
export default function Customize({ guild }: { guild: GuildState }) {
  return (
    <WithTexts parts={PARTS}>
      <Queries>
        <Page guild={guild} />
      </Queries>
    </WithTexts>
  );
}

function Page({ guild }: { guild: GuildState }) {
  const text = useText();
  const { api } = useSession();
  const onboarding = useQuery({
    queryKey: ["onboarding", guild.id],
    queryFn: () => getOnboarding(api, guild.id),
    retry: false,
  });
  return (
    <>
      <header className="channel-header">
        <h1>{text("guild.customize")}</h1>
      </header>
      <div className="customize">
        <div className="customize-body">
          {onboarding.isPending && <div className="skeleton rail-skeleton" aria-hidden="true" />}
          {onboarding.data?.enabled === true && (
            <Answers key={onboarding.dataUpdatedAt} guildId={guild.id} onboarding={onboarding.data} />
          )}
          <Channels guild={guild} />
        </div>
      </div>
    </>
  );
}

function Answers({ guildId, onboarding }: { guildId: string; onboarding: Onboarding }) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const [chosen, setChosen] = useState<readonly string[]>(onboarding.responses ?? []);
  const change = (next: readonly string[]) => {
    setChosen(next);
    // Incomplete answers are saved with the next one that completes them.
    if (!onboarding.prompts.some((prompt) => prompt.in_onboarding && isUnanswered(prompt, next))) {
      void action.run(() => submitOnboarding(api, guildId, next, onboarding.prompts, true));
    }
  };
  return (
    <>
      {onboarding.prompts.map((prompt) => (
        <Prompt key={prompt.id} prompt={prompt} chosen={chosen} onChange={change} />
      ))}
      <ErrorNotice error={action.error} />
      <p role="status" className="visually-hidden">
        {action.pending ? text("joining.saving") : ""}
      </p>
    </>
  );
}

function Channels({ guild }: { guild: GuildState }) {
  const text = useText();
  const session = useSession();
  const action = useAction();
  const settings = useAppState((state) => state.guildSettings[guild.id]);
  const flags = settings?.flags ?? 0;
  const chooses = (flags & GuildSettingsFlags.OptInChannelsOn) !== 0;
  const groups = useDerived((state) => channelGroupsOf(state, guild.id));
  const flagsOf = (channelId: string) =>
    settings?.channel_overrides.find((each) => each.channel_id === channelId)?.flags ?? 0;
  const follow = (channelId: string, follows: boolean) =>
    void action.run(() =>
      changeChannelSettings(session, guild.id, channelId, {
        flags: follows
          ? flagsOf(channelId) | ChannelOverrideFlags.OptInEnabled
          : flagsOf(channelId) & ~ChannelOverrideFlags.OptInEnabled,
      }),
    );
  const showAll = (all: boolean) =>
    void action.run(() =>
      changeGuildSettings(session, guild.id, {
        flags: all ? flags & ~GuildSettingsFlags.OptInChannelsOn : flags | GuildSettingsFlags.OptInChannelsOn,
      }),
    );
  return (
    <section className="stack">
      <h2>{text("joining.channels")}</h2>
      <Switch
        label={text("joining.channels.all")}
        hint={text("joining.channels.allHint")}
        isSelected={!chooses}
        onChange={showAll}
      />
      <ErrorNotice error={action.error} />
      {chooses &&
        groups.map((group) => (
          <section key={group.category?.id ?? "none"} className="stack">
            {group.category !== null && <h3>{"name" in group.category ? group.category.name : ""}</h3>}
            {group.channels.map((channel) => (
              <Switch
                key={channel.id}
                label={`#${"name" in channel ? (channel.name ?? "") : ""}`}
                hint={"topic" in channel && channel.topic ? channel.topic : undefined}
                isSelected={(flagsOf(channel.id) & ChannelOverrideFlags.OptInEnabled) !== 0}
                onChange={(follows) => follow(channel.id, follows)}
              />
            ))}
          </section>
        ))}
    </section>
  );
}
