import { Link, useNavigate } from "@tanstack/react-router";
import type { APIGuildMember, APIUser } from "discord-api-types/v10";
import { Check, Copy, MessageCircle, MoreHorizontal } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { FormattedDate } from "react-intl";

import { openDirectMessage } from "../../api/guilds";
import { bannerUrl, guildIconUrl, memberBannerUrl } from "../../api/images";
import { getMember, getProfile, setNote, type UserProfile } from "../../api/users";
import { useText } from "../../i18n/translate";
import { displayName } from "../../store/selectors";
import { roleColor } from "../../ui/colors";
import { Avatar, Button, IconButton } from "../../ui/controls";
import { hueOf } from "../../ui/hues";
import { TextField } from "../../ui/TextField";
import { useAppState, useSession } from "../session/session";
import { useAction, useErrorText } from "../session/useAction";
import { Content } from "../content/Content";
import { MemberAvatar } from "../users/MemberAvatar";
import { UserRow } from "../users/UserRow";
import type { UserCardProps } from "../users/UserCardContext";
import { MemberMenu } from "./MemberMenu";
import "./usercard.css";

const MAX_NOTE = 256;
const EPOCH_MS = 1_420_070_400_000;

/** A user with their roles, since when they are there, and the caller's note about them. */
export function UserCard({ userId, guildId, onClose }: UserCardProps) {
  const { api, store } = useSession();
  const errorText = useErrorText();
  const stored = useAppState((state) => state.users[userId]);
  const [profile, setProfile] = useState<UserProfile | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    const abort = new AbortController();
    // The colour, the banner and what is shared are not part of what the gateway sends.
    getProfile(api, userId, abort.signal).then(
      setProfile,
      (caught: unknown) => !abort.signal.aborted && setError(caught),
    );
    if (guildId !== null && store.state.members[guildId]?.[userId] === undefined) {
      getMember(api, guildId, userId, abort.signal).then(
        (member) => store.dispatch("GUILD_MEMBERS_CHUNK", { guild_id: guildId, members: [member] }),
        () => undefined,
      );
    }
    return () => abort.abort();
  }, [api, store, userId, guildId]);
  const user = profile?.user ?? stored;
  if (user === undefined) {
    return error === null ? (
      <div className="user-body" aria-busy="true">
        <span className="skeleton user-skeleton" />
      </div>
    ) : (
      <p role="alert" className="user-body field-error">
        {errorText(error)}
      </p>
    );
  }
  return <Card user={user} profile={profile} guildId={guildId} onClose={onClose} />;
}

interface CardProps {
  user: APIUser;
  /** Null until it is loaded. */
  profile: UserProfile | null;
  guildId: string | null;
  onClose: () => void;
}

function Card({ user, profile, guildId, onClose }: CardProps) {
  const text = useText();
  const { api, store } = useSession();
  const navigate = useNavigate();
  const action = useAction();
  const errorText = useErrorText();
  const [copied, setCopied] = useState(false);
  const name = useAppState((state) => displayName(state, user, guildId));
  const status = useAppState((state) => state.presences[user.id]?.status ?? "offline");
  const isSelf = useAppState((state) => state.user?.id === user.id);
  const member = useAppState((state) => (guildId === null ? undefined : state.members[guildId]?.[user.id]));
  const guild = useAppState((state) => (guildId === null ? undefined : state.guilds[guildId]));
  const ownBanner = guildId === null ? null : memberBannerUrl(guildId, user.id, member?.banner ?? null, 320);
  const banner = ownBanner ?? bannerUrl(user.id, user.banner ?? null, 320);
  const message = async () => {
    const channel = await openDirectMessage(api, user.id);
    store.dispatch("CHANNEL_CREATE", channel);
    onClose();
    await navigate({ to: "/channels/@me/$channelId", params: { channelId: channel.id } });
  };
  const color = user.accent_color ? `#${user.accent_color.toString(16).padStart(6, "0")}` : undefined;
  return (
    <>
      <div
        className="user-banner"
        data-hue={hueOf(user.id)}
        style={color === undefined ? undefined : { background: color }}
      >
        {banner !== null && <img src={banner} alt="" />}
      </div>
      <div className="user-body">
        <span className={`user-avatar member-${status}`}>
          <MemberAvatar user={user} guildId={guildId} name={name} size={72} />
          <span className="member-status" />
        </span>
        <h2 dir="auto">{name}</h2>
        <p className="field-hint">
          {user.username} {user.bot && <span className="tag">{text("message.tag.app")}</span>}
        </p>
        <dl className="user-facts">
          <div>
            <dt>{text("user.since")}</dt>
            <dd>
              <FormattedDate value={createdAt(user.id)} dateStyle="medium" />
            </dd>
          </div>
          {member?.joined_at && (
            <div>
              <dt>{text("user.joined")}</dt>
              <dd>
                <FormattedDate value={member.joined_at} dateStyle="medium" />
              </dd>
            </div>
          )}
        </dl>
        {profile?.user.bio && (
          <section>
            <h3>{text("user.about")}</h3>
            <Content content={profile.user.bio} guildId={null} />
          </section>
        )}
        {member !== undefined && guildId !== null && <Roles member={member} guildId={guildId} />}
        {!isSelf && profile !== null && <Mutual profile={profile} onClose={onClose} />}
        <Note key={user.id} userId={user.id} />
        {action.error !== null && (
          <p role="alert" className="field-error">
            {errorText(action.error)}
          </p>
        )}
        <div className="dialog-actions">
          {member !== undefined && guild !== undefined && (
            <MemberMenu
              member={member}
              guild={guild}
              hasProfile={false}
              trigger={
                <IconButton label={text("member.menu", { name })}>
                  <MoreHorizontal size={18} />
                </IconButton>
              }
            />
          )}
          <IconButton
            label={text(copied ? "common.copied" : "user.copyId")}
            onPress={() => void navigator.clipboard.writeText(user.id).then(() => setCopied(true))}
          >
            {copied ? <Check size={18} /> : <Copy size={18} />}
          </IconButton>
          {!isSelf && (
            <Button kind="primary" isDisabled={action.pending} onPress={() => void action.run(message)}>
              <MessageCircle size={16} aria-hidden="true" /> {text("member.message")}
            </Button>
          )}
        </div>
      </div>
    </>
  );
}

function Roles({ member, guildId }: { member: APIGuildMember; guildId: string }) {
  const text = useText();
  const roles = useAppState((state) => state.guilds[guildId]?.roles);
  const own = member.roles
    .map((id) => roles?.[id])
    .filter((role) => role !== undefined)
    .sort((a, b) => b.position - a.position);
  return own.length === 0 ? null : (
    <section>
      <h3>{text("user.roles")}</h3>
      <ul className="user-roles">
        {own.map((role) => {
          const color = role.color === 0 ? null : `#${role.color.toString(16).padStart(6, "0")}`;
          return (
            <li key={role.id}>
              <span className="user-role-color" style={roleColor(color)} /> <bdi>{role.name}</bdi>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** The guilds and friends that the user has in common with the caller. */
function Mutual({ profile, onClose }: { profile: UserProfile; onClose: () => void }) {
  const text = useText();
  const guilds = useAppState((state) => state.guilds);
  const shared = (profile.mutual_guilds ?? []).flatMap(({ id, nick }) => {
    const guild = guilds[id];
    return guild === undefined ? [] : [{ guild, nick }];
  });
  const friends = profile.mutual_friends ?? [];
  return (
    <>
      {shared.length > 0 && (
        <details className="user-mutual">
          <summary>{text("user.mutualGuilds", { count: shared.length })}</summary>
          <ul>
            {shared.map(({ guild, nick }) => (
              <li key={guild.id}>
                <Link to="/channels/$guildId" params={{ guildId: guild.id }} onClick={onClose}>
                  <Avatar url={guildIconUrl(guild.id, guild.icon, 24)} name={guild.name} size={24} tile />
                  <span>{guild.name}</span>
                  {nick !== null && <span className="field-hint">{nick}</span>}
                </Link>
              </li>
            ))}
          </ul>
        </details>
      )}
      {friends.length > 0 && (
        <details className="user-mutual">
          <summary>{text("user.mutualFriends", { count: friends.length })}</summary>
          <ul>
            {friends.map((friend) => (
              <UserRow key={friend.id} user={friend} guildId={null} />
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** The caller's note, saved when the field is left. */
function Note({ userId }: { userId: string }) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const errorText = useErrorText();
  const saved = useAppState((state) => state.notes[userId] ?? "");
  const [note, change] = useState(saved);
  const save = async () => {
    if (note !== saved) {
      await action.run(() => setNote(api, userId, note));
    }
  };
  const saveLatest = useRef(save);
  useEffect(() => {
    saveLatest.current = save;
  });
  // The card may close while the field still has the focus.
  useEffect(() => () => void saveLatest.current(), []);
  return (
    <TextField
      label={text("user.note")}
      error={action.error === null ? undefined : errorText(action.error)}
      multiline
      maxLength={MAX_NOTE}
      placeholder={text("user.note.hint")}
      value={note}
      onChange={change}
      onBlur={() => void save()}
    />
  );
}

/** When an account was created, in milliseconds. */
function createdAt(id: string): number {
  return Number(BigInt(id) >> 22n) + EPOCH_MS;
}
