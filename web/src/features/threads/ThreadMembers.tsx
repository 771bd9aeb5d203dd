import type { APIThreadChannel, APIThreadMember } from "discord-api-types/v10";
import { X } from "lucide-react";
import { useEffect, useMemo } from "react";

import { ChannelType, Permission } from "../../api/enums";
import { avatarUrl } from "../../api/images";
import { addThreadMember, getThreadMembers, removeThreadMember } from "../../api/threads";
import { useText } from "../../i18n/translate";
import { has } from "../../store/permissions";
import { displayName } from "../../store/selectors";
import { isArchived, setThreadMembers } from "../../store/threads";
import { Avatar, IconButton } from "../../ui/controls";
import { Picker } from "../../ui/Picker";
import { WithChannelTexts } from "../../i18n/WithChannelTexts";
import { ErrorNotice } from "../session/ErrorNotice";
import { useAppState, useSession } from "../session/session";
import { showMembers, usePanelAlone } from "../overlays/panels";
import { PanelHeader } from "../overlays/SidePanel";
import { useAction } from "../session/useAction";
import { useChannelPermissions } from "../session/usePermissions";
import "../members/members.css";

/** The members of a thread, with adding and removing where that is permitted. */
export default function ThreadMembers({ thread }: { thread: APIThreadChannel }) {
  return (
    <WithChannelTexts>
      <MemberList thread={thread} />
    </WithChannelTexts>
  );
}

function MemberList({ thread }: { thread: APIThreadChannel }) {
  const text = useText();
  const { api, store } = useSession();
  const action = useAction();
  const { run } = action;
  const role = usePanelAlone() ? "main" : "complementary";
  const members = useAppState((state) => state.threadMembers[thread.id]);
  const permissions = useChannelPermissions(thread);
  const isOwner = useAppState((state) => state.user?.id === thread.owner_id);
  const active = !isArchived(thread);
  const mayRemove =
    active &&
    (has(permissions, Permission.ManageThreads) || (isOwner && thread.type === ChannelType.PrivateThread));
  const mayAdd = active && has(permissions, Permission.SendMessagesInThreads);
  const unloaded = members === undefined;
  useEffect(() => {
    if (unloaded) {
      void run(async () => {
        const loaded = await getThreadMembers(api, thread.id);
        store.update((state) => setThreadMembers(state, thread.id, loaded));
      });
    }
    // `run` is another function in each render.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [api, store, thread.id, unloaded]);
  const list = Object.values(members ?? {});
  return (
    <div
      role={role}
      className="members thread-members side-panel"

      aria-label={text("thread.members")}
    >
      <PanelHeader title={text("thread.members")} onClose={() => showMembers(false)} />
      <div className="members-scroller">
        <h2 className="members-heading">
          {text("thread.members")} · {thread.member_count ?? list.length}
        </h2>
        {mayAdd && <AddMembers thread={thread} members={members ?? {}} />}
        <ErrorNotice error={action.error} />
        {members === undefined && <span className="skeleton thread-members-skeleton" />}
        {members !== undefined && list.length === 0 && (
          <p className="channel-empty">{text("thread.members.none")}</p>
        )}
        <ul>
          {list.map((member) => (
            <Row
              key={member.user_id}
              member={member}
              guildId={thread.guild_id ?? ""}
              onRemove={
                mayRemove
                  ? () => void action.run(() => removeThreadMember(api, thread.id, member.user_id ?? ""))
                  : null
              }
            />
          ))}
        </ul>
      </div>
    </div>
  );
}

function Row({
  member,
  guildId,
  onRemove,
}: {
  member: APIThreadMember;
  guildId: string;
  onRemove: (() => void) | null;
}) {
  const text = useText();
  const userId = member.user_id ?? "";
  const user = useAppState((state) => state.users[userId] ?? member.member?.user);
  const name = useAppState((state) => (user === undefined ? userId : displayName(state, user, guildId)));
  return (
    <li className="member">
      <Avatar url={user === undefined ? null : avatarUrl(user, 32)} name={name} size={32} hueKey={user?.id} />
      <span className="member-name" dir="auto">
        {name}
      </span>
      {onRemove !== null && (
        <IconButton label={text("thread.members.remove", { name })} onPress={onRemove}>
          <X size={16} />
        </IconButton>
      )}
    </li>
  );
}

function AddMembers({
  thread,
  members,
}: {
  thread: APIThreadChannel;
  members: Readonly<Record<string, APIThreadMember>>;
}) {
  const text = useText();
  const { api, store } = useSession();
  const action = useAction();
  const guildId = thread.guild_id ?? "";
  const guildMembers = useAppState((state) => state.members[guildId]);
  const options = useMemo(
    () =>
      Object.values(guildMembers ?? {})
        .filter(({ user }) => !(user.id in members))
        .map(({ user }) => ({ id: user.id, name: displayName(store.state, user, guildId) })),
    [guildMembers, members, store, guildId],
  );
  return (
    <>
      <Picker
        label={text("thread.members.add")}
        options={options}
        value={[]}
        onChange={(ids) => {
          for (const id of ids) {
            void action.run(() => addThreadMember(api, thread.id, id));
          }
        }}
      />
      <ErrorNotice error={action.error} />
    </>
  );
}
