import { useQuery } from "@tanstack/react-query";
import type { APIUser } from "discord-api-types/v10";
import { useState } from "react";

import { uploadActivityImage } from "../../api/activities";
import { Permission } from "../../api/enums";
import { activityTarget, createInvite, openDirectMessage } from "../../api/guilds";
import { createMessage } from "../../api/messages";
import { useText } from "../../i18n/translate";
import type { ActivityInstance } from "../../store/entities";
import { isForum, isThread, parentIdOf } from "../../store/channels";
import { channelPermissions, has } from "../../store/permissions";
import { ComboField } from "../../ui/ComboField";
import { Button } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/TextField";
import { FileButton } from "../../ui/fields";
import { ChannelIcon } from "../channels/ChannelIcon";
import { runCommand } from "../commands/sending";
import { ActionForm } from "../session/ActionForm";
import { ErrorNotice } from "../session/ErrorNotice";
import { useAppState, useSession, type Session } from "../session/session";
import { fieldError, useAction } from "../session/useAction";
import type { ShareResult } from "./commands";
import { activityLink } from "./launching";
import { destinations, findCommand, sharedOptions, type Destination, type SharedCommand } from "./sharing";

/** The looks of buttons by their style. */
const BUTTON_KINDS: Readonly<Record<number, "primary" | "danger">> = { 1: "primary", 4: "danger" };
const WEEK_SECONDS = 604_800;
const IMAGES = "image/png,image/jpeg,image/gif";

interface Asked {
  /** The name of the Activity. */
  name: string;
  onClose: () => void;
}

/** Chooses a channel or conversation that the user may write in. */
export function DestinationField({
  label,
  needed = 0n,
  onChoose,
}: {
  label: string;
  /** Further permissions that the user needs there. */
  needed?: bigint;
  onChoose: (destination: Destination | null) => void;
}) {
  const text = useText();
  const state = useAppState((all) => all);
  const [query, setQuery] = useState("");
  const [chosen, setChosen] = useState<Destination | null>(null);
  const found = destinations(state, query === chosen?.label ? "" : query, needed);
  const places = chosen === null || found.some(({ key }) => key === chosen.key) ? found : [chosen, ...found];
  return (
    <ComboField
      label={label}
      items={places.map((each) => ({
        id: each.key,
        label: each.label,
        detail: each.detail,
        icon: <ChannelIcon type={each.channel.type} />,
      }))}
      text={query}
      onText={setQuery}
      selectedId={chosen?.key ?? null}
      onSelect={(item) => {
        const next = places.find(({ key }) => key === item?.id) ?? null;
        setChosen(next);
        setQuery(next?.label ?? "");
        onChoose(next);
      }}
      emptyText={text("activities.share.nowhere")}
      isRequired
    />
  );
}

/** Sends or copies a link to an Activity. */
export function ShareLink(
  props: Asked & { message: string; link: string; answer: (result: ShareResult) => void },
) {
  const { name, message, link, answer, onClose } = props;
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const [destination, setDestination] = useState<Destination | null>(null);
  const [copied, setCopied] = useState(false);
  const settle = (sent: boolean) => {
    answer({ success: sent || copied, didCopyLink: copied, didSendMessage: sent });
    onClose();
  };
  const send = async () => {
    const content = `${message}\n${link}`;
    if (
      destination !== null &&
      (await action.run(() => createMessage(api, destination.channel.id, { content })))
    ) {
      settle(true);
    }
  };
  const copy = async () => {
    await navigator.clipboard.writeText(link);
    setCopied(true);
  };
  return (
    <Dialog title={text("activities.share.title", { name })} onClose={() => settle(false)}>
      <ActionForm
        action={action}
        onSubmit={() => void send()}
        confirm={text("activities.share.send")}
        isDisabled={destination === null}
        cancel={text("common.close")}
        onCancel={() => settle(false)}
      >
        <blockquote className="activity-quote">{message}</blockquote>
        <div className="activity-link">
          <TextField label={text("activities.share.link")} value={link} isReadOnly />
          <Button onPress={() => void action.run(copy)}>
            {text(copied ? "common.copied" : "common.copy")}
          </Button>
        </div>
        <DestinationField label={text("activities.share.to")} onChoose={setDestination} />
      </ActionForm>
    </Dialog>
  );
}

/** Sends a picture or video of an Activity as a file: the Activity's own is deleted after a day. */
export function ShareMedia(props: Asked & { path: string; answer: () => void }) {
  const { name, path, answer, onClose } = props;
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const [destination, setDestination] = useState<Destination | null>(null);
  const [content, setContent] = useState("");
  const fileName = mediaName(path);
  const isVideo = /\.(?:mp4|webm|mov)$/i.test(fileName);
  const settle = () => {
    answer();
    onClose();
  };
  const send = async () => {
    const post = async (channelId: string) => {
      const response = await fetch(path, { credentials: "omit" });
      if (!response.ok) {
        throw new Error("The file is not there any more.");
      }
      const data = await response.blob();
      const files = [new File([data], fileName, { type: data.type })];
      const attachments = [{ id: 0, filename: fileName }];
      await createMessage(api, channelId, { content, attachments }, { files });
    };
    if (destination !== null && (await action.run(() => post(destination.channel.id)))) {
      settle();
    }
  };
  return (
    <Dialog title={text("activities.moment.title", { name })} onClose={settle}>
      <ActionForm
        action={action}
        shown={["content"]}
        onSubmit={() => void send()}
        confirm={text("activities.share.send")}
        isDisabled={destination === null}
        onCancel={settle}
      >
        {isVideo ? (
          // eslint-disable-next-line jsx-a11y/media-has-caption -- the Activity has recorded none
          <video className="activity-media" src={path} controls />
        ) : (
          <img className="activity-media" src={path} alt={text("activities.moment.image", { name })} />
        )}
        <TextField
          label={text("activities.moment.message")}
          value={content}
          onChange={setContent}
          maxLength={2_000}
          multiline
          error={fieldError(action.error, "content")}
        />
        <DestinationField
          label={text("activities.share.to")}
          needed={Permission.AttachFiles}
          onChoose={setDestination}
        />
      </ActionForm>
    </Dialog>
  );
}

/** Uses a command of the application in a channel. */
export function ShareCommand(
  props: Asked & { instance: ActivityInstance; shared: SharedCommand; answer: (used: boolean) => void },
) {
  const { name, instance, shared, answer, onClose } = props;
  const text = useText();
  const session = useSession();
  const action = useAction();
  const [destination, setDestination] = useState<Destination | null>(null);
  const [missing, setMissing] = useState(false);
  const channelId = shared.onlyHere ? instance.location.channel_id : (destination?.channel.id ?? null);
  const settle = (used: boolean) => {
    answer(used);
    onClose();
  };
  const use = async (place: string) => {
    const leaf = await findCommand(session, place, instance.application_id, shared);
    setMissing(leaf === null);
    if (leaf !== null) {
      await runCommand(session, place, leaf, sharedOptions(leaf, shared), []);
      settle(true);
    }
  };
  return (
    <Dialog title={text("activities.command.title", { name })} onClose={() => settle(false)}>
      <ActionForm
        action={action}
        onSubmit={() => channelId !== null && void action.run(() => use(channelId))}
        confirm={text("activities.command.use")}
        isDisabled={channelId === null}
        onCancel={() => settle(false)}
      >
        {missing && (
          <p role="alert" className="notice notice-danger">
            {text("activities.command.missing")}
          </p>
        )}
        <p>
          <code>/{shared.name}</code> {shared.options.map((each) => `${each.name}: ${each.value}`).join(", ")}
        </p>
        {shared.content !== "" && <blockquote className="activity-quote">{shared.content}</blockquote>}
        {shared.image !== null && (
          <img
            className="activity-media"
            src={shared.image.url}
            width={shared.image.width}
            height={shared.image.height}
            alt={text("activities.moment.image", { name })}
          />
        )}
        {shared.buttons.map((row, index) => (
          <div
            key={index}
            className="activity-buttons"
            role="group"
            aria-label={text("activities.command.buttons")}
          >
            {row.map(({ style, label }, place) => (
              <Button key={place} kind={BUTTON_KINDS[style] ?? "plain"} isDisabled>
                {label}
              </Button>
            ))}
          </div>
        ))}
        {shared.onlyHere ? (
          <p className="field-hint">{text("activities.command.here")}</p>
        ) : (
          <DestinationField label={text("activities.share.to")} onChoose={setDestination} />
        )}
      </ActionForm>
    </Dialog>
  );
}

/** Uploads an image that the user chooses. */
export function ChooseImage(
  props: Asked & { instance: ActivityInstance; answer: (url: string | null) => void },
) {
  const { name, instance, answer, onClose } = props;
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const settle = (url: string | null) => {
    answer(url);
    onClose();
  };
  const upload = async (file: File) => settle(await uploadActivityImage(api, instance.application_id, file));
  return (
    <Dialog title={text("activities.image.title", { name })} onClose={() => settle(null)}>
      <ErrorNotice error={action.error} />
      <p>{text("activities.image.about", { name })}</p>
      <div className="dialog-actions">
        <Button onPress={() => settle(null)}>{text("common.cancel")}</Button>
        <FileButton
          accept={IMAGES}
          isDisabled={action.pending}
          onChoose={(file) => void action.run(() => upload(file))}
        >
          {text(action.pending ? "activities.image.uploading" : "activities.image.choose")}
        </FileButton>
      </div>
    </Dialog>
  );
}

/** Sends a user a direct message with a way into an Activity. */
export function InviteUser(
  props: Asked & {
    instance: ActivityInstance;
    user: APIUser;
    message: string;
    answer: (sent: boolean) => void;
  },
) {
  const { name, instance, user, message, answer, onClose } = props;
  const text = useText();
  const session = useSession();
  const action = useAction();
  const settle = (sent: boolean) => {
    answer(sent);
    onClose();
  };
  const send = async () => {
    const link = await createActivityLink(session, instance);
    const channel = await openDirectMessage(session.api, user.id);
    await createMessage(session.api, channel.id, { content: message === "" ? link : `${message}\n${link}` });
    settle(true);
  };
  const userName = user.global_name ?? user.username;
  return (
    <Dialog title={text("activities.inviteUser.title", { user: userName })} onClose={() => settle(false)}>
      <ActionForm
        action={action}
        onSubmit={() => void action.run(send)}
        confirm={text("activities.inviteUser.send")}
        onCancel={() => settle(false)}
      >
        <p>{text("activities.inviteUser.about", { name, user: userName })}</p>
        {message !== "" && <blockquote className="activity-quote">{message}</blockquote>}
      </ActionForm>
    </Dialog>
  );
}

/** An invite that leads into the Activity. */
export function Invite({ instance, onClose }: { instance: ActivityInstance; onClose: () => void }) {
  const text = useText();
  const session = useSession();
  const action = useAction();
  const [copied, setCopied] = useState(false);
  const invite = useQuery({
    queryKey: ["activity invite", instance.instance_id],
    queryFn: () => createActivityInvite(session, instance),
    retry: false,
    staleTime: Infinity,
  });
  const link = invite.data ?? "";
  const copy = async () => {
    await navigator.clipboard.writeText(link);
    setCopied(true);
  };
  return (
    <Dialog title={text("activities.invite")} onClose={onClose}>
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
            hint={text("activities.invite.hint")}
            value={link}
            isReadOnly
            autoFocus
          />
        )}
      </ActionForm>
    </Dialog>
  );
}

/** A link into an Activity: an invite to the guild where the user may create one, else a link for its members. */
async function createActivityLink(session: Session, instance: ActivityInstance): Promise<string> {
  const { state } = session.store;
  const channel = state.channels[instance.location.channel_id];
  const userId = state.user?.id ?? "";
  const mayInvite =
    instance.location.guild_id !== undefined &&
    channel !== undefined &&
    has(channelPermissions(state, channel, userId), Permission.CreateInstantInvite);
  return mayInvite
    ? createActivityInvite(session, instance)
    : activityLink({
        applicationId: instance.application_id,
        referrerId: userId,
        customId: "",
        linkId: "",
      });
}

async function createActivityInvite(session: Session, instance: ActivityInstance): Promise<string> {
  const { channel_id: channelId } = instance.location;
  const channel = session.store.state.channels[channelId];
  // Invites lead to no thread: that of one leads to its parent, and the link names the thread.
  const parentId = channel !== undefined && isThread(channel) ? parentIdOf(channel) : null;
  const parent = parentId === null ? undefined : session.store.state.channels[parentId];
  const leadsThere = parent === undefined || !isForum(parent);
  const body = { max_age: WEEK_SECONDS, ...(leadsThere && activityTarget(instance.application_id)) };
  const { code } = await createInvite(session.api, parentId ?? channelId, body);
  const link = `${location.origin}/invite/${code}`;
  return parentId !== null && leadsThere ? `${link}?thread=${channelId}` : link;
}

function mediaName(path: string): string {
  const last = path.split("?")[0]?.split("/").at(-1) ?? "";
  return decodeURIComponent(last) || "moment";
}
