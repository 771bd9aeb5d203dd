import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, type ReactNode } from "react";

import { ApiClient } from "../../api/client";
import { guildIconUrl } from "../../api/images";
import { acceptInvite, getInvite } from "../../api/guilds";
import type { Part } from "../../i18n/messages";
import { Translate, useText, WithTexts } from "../../i18n/translate";
import { Avatar, Button } from "../../ui/controls";
import { requestLaunch } from "../activities/launching";
import { noteArrival, rememberInvite, takeRememberedInvite } from "../joining/arrival";
import { ErrorNotice } from "../session/ErrorNotice";
import { Queries } from "../session/queries";
import { useOptionalSession, type Session } from "../session/session";
import { useAction } from "../session/useAction";
import "../joining/joining.css";

const PARTS: readonly Part[] = ["joining"];
const ANONYMOUS = new ApiClient(null);

interface InvitePageProps {
  code: string;
  /** The thread of the Activity that the invite leads to; null for its channel. */
  threadId: string | null;
}

/** Shows the guild of an invite and joins it; without a login it leads to one first. */
export function InvitePage({ code, threadId }: InvitePageProps) {
  return (
    <WithTexts parts={PARTS}>
      <Queries>
        <Invite code={code} threadId={threadId} />
      </Queries>
    </WithTexts>
  );
}

function Invite({ code, threadId }: InvitePageProps) {
  const text = useText();
  const session = useOptionalSession();
  const api = session?.api ?? ANONYMOUS;
  const invite = useQuery({ queryKey: ["invite", code], queryFn: () => getInvite(api, code), retry: false });
  if (invite.isPending) {
    return (
      <main id="main" className="page" aria-busy="true">
        <Translate id="app.loading" />
      </main>
    );
  }
  const { data } = invite;
  if (data === undefined) {
    return (
      <main id="main" className="page">
        <p role="alert" className="notice">
          <Translate id="guild.join.unknown" />
        </p>
      </main>
    );
  }
  const guild = data.guild ?? null;
  const place = guild?.name ?? data.channel?.name ?? text("joining.group");
  const inviter = data.inviter?.global_name ?? data.inviter?.username;
  return (
    <main id="main" className="page">
      <div className="invite-card">
        <Avatar
          url={guild === null ? null : guildIconUrl(guild.id, guild.icon ?? null, 72)}
          name={place}
          size={72}
          tile
        />
        {inviter !== undefined && <p>{text("joining.invitedBy", { name: inviter })}</p>}
        <h1>{place}</h1>
        {data.target_application !== undefined && (
          <p>{text("joining.activity", { name: data.target_application.name ?? "" })}</p>
        )}
        {guild?.description && <p>{guild.description}</p>}
        <p className="field-hint">
          {text("guild.join.members", { count: data.approximate_member_count ?? 0 })}
          {guild !== null && " · "}
          {guild !== null && text("joining.online", { count: data.approximate_presence_count ?? 0 })}
        </p>
        {session === null ? (
          <LogInFirst
            path={threadId === null ? `/invite/${code}` : `/invite/${code}?thread=${threadId}`}
            onLeave={() => rememberInvite(code)}
          >
            {text("joining.logInToJoin")}
          </LogInFirst>
        ) : (
          <JoinButton
            session={session}
            code={code}
            guildId={guild?.id ?? null}
            channelId={data.channel?.id ?? null}
            activityId={data.target_application?.id ?? null}
            threadId={threadId}
            name={place}
          />
        )}
      </div>
    </main>
  );
}

interface LogInFirstProps {
  /** Where to come back to. */
  path: string;
  onLeave?: () => void;
  /** The label of the link to log in. */
  children: ReactNode;
}

/** Links to register and to log in, which both lead back. */
export function LogInFirst({ path, onLeave, children }: LogInFirstProps) {
  const text = useText();
  return (
    <div className="join-actions">
      <Link
        to="/app/register"
        search={{ next: path }}
        className="button button-primary"
        {...(onLeave && { onClick: onLeave })}
      >
        {text("joining.register")}
      </Link>
      <Link
        to="/app/login"
        search={{ next: path }}
        className="button button-plain"
        {...(onLeave && { onClick: onLeave })}
      >
        {children}
      </Link>
    </div>
  );
}

interface JoinButtonProps {
  session: Session;
  code: string;
  /** Null for a group direct message. */
  guildId: string | null;
  channelId: string | null;
  /** The application whose Activity the invite leads to. */
  activityId: string | null;
  threadId: string | null;
  name: string;
}

function JoinButton({ session, code, guildId, channelId, activityId, threadId, name }: JoinButtonProps) {
  const text = useText();
  const navigate = useNavigate();
  const action = useAction();
  const { api, store } = session;
  const join = async () => {
    const isNew = guildId !== null && !(guildId in store.state.guilds);
    await acceptInvite(api, code);
    if (guildId === null) {
      await store.waitFor((state) => channelId === null || channelId in state.channels);
      await navigate({ to: "/channels/@me/$channelId", params: { channelId: channelId ?? "" } });
      return;
    }
    if (isNew) {
      noteArrival(guildId);
    }
    await store.waitFor((state) => guildId in state.guilds);
    if (activityId !== null && channelId !== null) {
      const placeId = threadId ?? channelId;
      requestLaunch({ applicationId: activityId, channelId: placeId, referrerId: "", customId: "" });
    }
    await (channelId === null
      ? navigate({ to: "/channels/$guildId", params: { guildId } })
      : navigate({ to: "/channels/$guildId/$channelId", params: { guildId, channelId } }));
  };
  // Whoever pressed "join" before they logged in need not press again.
  const started = useRef(false);
  useEffect(() => {
    if (!started.current && takeRememberedInvite(code)) {
      started.current = true;
      void action.run(join);
    }
  });
  return (
    <>
      <ErrorNotice error={action.error} />
      <Button kind="primary" isDisabled={action.pending} onPress={() => void action.run(join)}>
        {text("guild.join.submit", { name })}
      </Button>
    </>
  );
}
