import { useNavigate } from "@tanstack/react-router";
import type { APIMessage } from "discord-api-types/v10";
import { useEffect } from "react";

import { avatarUrl } from "../../api/images";
import { useText } from "../../i18n/translate";
import { guildIdOf } from "../../store/channels";
import { channelName, displayName } from "../../store/selectors";
import { notifies } from "../../store/settings";
import { useSession } from "../session/session";
import { getPreferences } from "../preferences/preferences";

const MAX_LENGTH = 200;

/** Shows new messages as notifications of the browser while the page is in the background. */
export function useNotifications(): void {
  const { store } = useSession();
  const text = useText();
  const navigate = useNavigate();
  useEffect(
    () =>
      store.observe((name, data) => {
        if (name !== "MESSAGE_CREATE" || (document.visibilityState === "visible" && document.hasFocus())) {
          return;
        }
        const message = data as APIMessage;
        const isAllowed = "Notification" in globalThis && Notification.permission === "granted";
        if (!isAllowed || !getPreferences().notifications || !notifies(store.state, message, Date.now())) {
          return;
        }
        const channel = store.state.channels[message.channel_id];
        if (channel === undefined) {
          return;
        }
        const guildId = guildIdOf(channel);
        const author = displayName(store.state, message.author, guildId);
        const place =
          guildId === null ? channelName(store.state, channel) : `#${channelName(store.state, channel)}`;
        const icon = avatarUrl(message.author, 64);
        // The parser comes with the first messages, not with the page.
        void import("../../markdown/plain").then(({ plainText }) => {
          const notification = new Notification(
            place === author ? author : text("notification.title", { author, place }),
            {
              body: plainText(message.content, MAX_LENGTH) || text("notification.file"),
              // A further message of the channel takes the place of the one before.
              tag: message.channel_id,
              ...(icon !== null && { icon }),
            },
          );
          notification.onclick = () => {
            window.focus();
            notification.close();
            void (guildId === null
              ? navigate({ to: "/channels/@me/$channelId", params: { channelId: channel.id } })
              : navigate({
                  to: "/channels/$guildId/$channelId",
                  params: { guildId, channelId: channel.id },
                }));
          };
        });
      }),
    [store, text, navigate],
  );
}
