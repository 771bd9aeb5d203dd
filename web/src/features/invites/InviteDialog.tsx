import { ChannelType } from "../../api/enums";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { createInvite } from "../../api/guilds";
import { useText } from "../../i18n/translate";
import { visibleChannelGroups } from "../../store/selectors";
import type { GuildState } from "../../store/state";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/TextField";
import { ActionForm } from "../session/ActionForm";
import { ErrorNotice } from "../session/ErrorNotice";
import { Queries } from "../session/queries";
import { useSession } from "../session/session";
import { useAction } from "../session/useAction";

const WEEK_SECONDS = 604_800;

/** A link that others join the guild with. */
export default function InviteDialog(props: InviteDialogProps) {
  return (
    <Queries>
      <NewInvite {...props} />
    </Queries>
  );
}

interface InviteDialogProps {
  guild: GuildState;
  /** The channel that it leads to; by default the first one. */
  channelId?: string;
  onClose: () => void;
}

function NewInvite({ guild, channelId: chosenId, onClose }: InviteDialogProps) {
  const text = useText();
  const { api, store } = useSession();
  const action = useAction();
  const [copied, setCopied] = useState(false);
  // Chosen once: another channel would be another invite.
  const [channelId] = useState(
    () =>
      chosenId ??
      guild.systemChannelId ??
      visibleChannelGroups(store.state, guild.id)
        .flatMap((group) => group.channels)
        .find((channel) => channel.type === ChannelType.GuildText)?.id,
  );
  const invite = useQuery({
    queryKey: ["new invite", guild.id, channelId],
    queryFn: () => createInvite(api, channelId ?? guild.id, { max_age: WEEK_SECONDS }),
    retry: false,
    staleTime: Infinity,
  });
  const link = invite.data === undefined ? "" : `${location.origin}/invite/${invite.data.code}`;
  const copy = async () => {
    await navigator.clipboard.writeText(link);
    setCopied(true);
  };
  return (
    <Dialog title={text("guild.invite.title", { name: guild.name })} onClose={onClose}>
      <ActionForm
        action={action}
        onSubmit={() => void action.run(copy)}
        confirm={text(copied ? "common.copied" : "common.copy")}
        isDisabled={link === ""}
        cancel={text("common.close")}
        onCancel={onClose}
      >
        {invite.isError ? (
          <ErrorNotice error={invite.error} />
        ) : (
          <TextField
            label={text("guild.invite.link")}
            hint={text("guild.invite.hint")}
            value={link}
            isReadOnly
            autoFocus
          />
        )}
      </ActionForm>
    </Dialog>
  );
}
