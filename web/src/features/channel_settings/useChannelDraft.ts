import type { APIChannel } from "discord-api-types/v10";
import { useState } from "react";

import { modifyChannel, type ChannelChanges } from "../../api/channels";
import { useText } from "../../i18n/translate";
import { guildIdOf } from "../../store/channels";
import { displayName } from "../../store/selectors";
import { useAppState, useSession } from "../session/session";
import type { Draft } from "../session/Unsaved";
import { useAction } from "../session/useAction";
import { changedFields } from "./fields";
import { changedIds, mergedOverwrites, overwritesOf, type OverwriteDraft } from "./overwriteDraft";

export interface ChannelDraft extends Draft {
  fields: ChannelChanges;
  setFields: (fields: ChannelChanges) => void;
  overwrites: OverwriteDraft;
  setOverwrites: (overwrites: OverwriteDraft) => void;
  /** What is changed, by name. */
  changes: string[];
  error: unknown;
}

/**
 * What is changed of a channel, whichever tab shows it: its settings, and the permissions of all roles and members. One
 * request saves it, so that a channel never has half of its new permissions.
 */
export function useChannelDraft(channel: APIChannel): ChannelDraft {
  const text = useText();
  const { api, store } = useSession();
  const action = useAction();
  const guildId = guildIdOf(channel) ?? "";
  const roles = useAppState((state) => state.guilds[guildId]?.roles);
  const [fields, setFields] = useState<ChannelChanges>({});
  const [overwrites, setOverwrites] = useState<OverwriteDraft>({});
  const saved = overwritesOf(channel);
  const changedSettings = changedFields(channel, fields);
  const targetIds = changedIds(overwrites, saved);
  const hasSettings = Object.keys(changedSettings).length > 0;
  const nameOf = (id: string) => {
    const role = roles?.[id];
    const user = store.state.users[id];
    const userName = user === undefined ? id : displayName(store.state, user, guildId);
    return role === undefined ? userName : `@${role.name.replace(/^@/, "")}`;
  };
  const reset = () => {
    setFields({});
    setOverwrites({});
  };
  const save = async () => {
    const body: ChannelChanges = {
      ...changedSettings,
      ...(targetIds.length > 0 && {
        permission_overwrites: mergedOverwrites(overwrites, saved, (id) => roles?.[id] !== undefined),
      }),
    };
    const succeeded = await action.run(async () => {
      const changed = await modifyChannel(api, channel.id, body);
      // The event may come later: until then the form would still count as changed.
      store.dispatch("CHANNEL_UPDATE", changed);
    });
    if (succeeded) {
      reset();
    }
    return succeeded;
  };
  return {
    fields,
    setFields: (changes) => setFields((before) => ({ ...before, ...changes })),
    overwrites,
    setOverwrites,
    changes: [...(hasSettings ? [text("channel.settings.overview")] : []), ...targetIds.map(nameOf)],
    isDirty: hasSettings || targetIds.length > 0,
    pending: action.pending,
    error: action.error,
    save,
    reset,
  };
}
