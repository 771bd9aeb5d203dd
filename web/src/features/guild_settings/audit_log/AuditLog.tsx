import { useInfiniteQuery } from "@tanstack/react-query";
import type { APIAuditLogEntry, RESTGetAPIAuditLogResult } from "discord-api-types/v10";
import { ChevronDown, ChevronRight } from "lucide-react";
import { useMemo, useState } from "react";
import { Button as AriaButton } from "react-aria-components";

import { avatarUrl } from "../../../api/images";
import { ENTRIES_PER_PAGE, getAuditLog } from "../../../api/moderation";
import type { MessageId } from "../../../i18n/messages";
import { useText } from "../../../i18n/translate";
import { Avatar, Button } from "../../../ui/controls";
import { Select } from "../../../ui/Select";
import { ErrorNotice } from "../../session/ErrorNotice";
import { useAppState, useSession } from "../../session/session";
import { MemberField } from "../../members/MemberField";
import { useFormats } from "../formats";
import { Skeleton } from "../queries";
import type { SectionProps } from "../section";
import { ACTION_TYPES, CHANGE_KEYS } from "./actions";
import { readableChanges, targetName, type AuditNames } from "./changes";
import "./audit_log.css";

/** Milliseconds since the epoch in a snowflake. */
const EPOCH = 1_420_070_400_000n;

function momentOf(id: string): string {
  return new Date(Number((BigInt(id) >> 22n) + EPOCH)).toISOString();
}

/** Who changed what in the guild, by member and by kind of action. */
export default function AuditLog({ guild }: SectionProps) {
  const text = useText();
  const { api, account } = useSession();
  const [userId, setUserId] = useState<string | null>(null);
  const [action, setAction] = useState("");
  const channels = useAppState((state) => state.channels);
  const filter = { userId, actionType: action === "" ? null : Number(action) };
  const pages = useInfiniteQuery({
    queryKey: [account.userId, "guild", guild.id, "audit log", filter],
    queryFn: ({ pageParam }) => getAuditLog(api, guild.id, filter, pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: (page: RESTGetAPIAuditLogResult) =>
      page.audit_log_entries.length < ENTRIES_PER_PAGE ? undefined : page.audit_log_entries.at(-1)?.id,
    retry: false,
    staleTime: 0,
  });
  const entries = (pages.data?.pages ?? []).flatMap((page) => page.audit_log_entries);
  const names = useMemo((): AuditNames => {
    const others = new Map<string, string>();
    for (const page of pages.data?.pages ?? []) {
      page.users.forEach((user) => others.set(user.id, user.global_name ?? user.username));
      page.webhooks.forEach((webhook) => others.set(webhook.id, webhook.name ?? webhook.id));
      page.integrations.forEach((integration) => others.set(integration.id, integration.name));
      page.auto_moderation_rules.forEach((rule) => others.set(rule.id, rule.name));
      page.application_commands.forEach((command) => others.set(command.id, `/${command.name}`));
      page.guild_scheduled_events.forEach((event) => others.set(event.id, event.name));
      page.threads.forEach((thread) => others.set(thread.id, thread.name ?? thread.id));
    }
    others.set(guild.id, guild.name);
    [...guild.emojis].forEach((emoji) => others.set(emoji.id ?? "", `:${emoji.name ?? ""}:`));
    return {
      channel: (id) => {
        const channel = channels[id];
        return channel === undefined ? null : `#${channel.name ?? ""}`;
      },
      role: (id) => (id === guild.id ? null : (guild.roles[id]?.name ?? null)),
      other: (id) => others.get(id) ?? null,
    };
  }, [pages.data, guild, channels]);
  const users = new Map(
    (pages.data?.pages ?? []).flatMap((page) => page.users).map((user) => [user.id, user]),
  );
  return (
    <div className="settings-block">
      <div className="settings-bar settings-bar-end">
        <MemberField
          label={text("guildSettings.audit.user")}
          guildId={guild.id}
          onChange={(member) => setUserId(member?.user.id ?? null)}
        />
        <Select
          label={text("guildSettings.audit.action")}
          value={action}
          options={[
            ["", text("guildSettings.audit.all")],
            ...ACTION_TYPES.map((type) => [String(type), text(`guildSettings.audit.${type}`)] as const),
          ]}
          onChange={setAction}
        />
      </div>
      <ErrorNotice error={pages.error} />
      {pages.isPending && <Skeleton />}
      {pages.isSuccess && entries.length === 0 && (
        <p className="settings-empty">{text("guildSettings.audit.empty")}</p>
      )}
      <ul className="settings-list" aria-label={text("guildSettings.auditLog")}>
        {entries.map((entry) => (
          <Entry key={entry.id} entry={entry} names={names} user={users.get(entry.user_id ?? "")} />
        ))}
      </ul>
      {pages.hasNextPage && (
        <Button isDisabled={pages.isFetchingNextPage} onPress={() => void pages.fetchNextPage()}>
          {text(pages.isFetchingNextPage ? "app.loading" : "guildSettings.more")}
        </Button>
      )}
    </div>
  );
}

interface EntryProps {
  entry: APIAuditLogEntry;
  names: AuditNames;
  user: RESTGetAPIAuditLogResult["users"][number] | undefined;
}

function Entry({ entry, names, user }: EntryProps) {
  const text = useText();
  const { moment } = useFormats();
  const [open, setOpen] = useState(false);
  const type = ACTION_TYPES.find((each) => each === (entry.action_type as number));
  const action = type === undefined ? String(entry.action_type) : text(`guildSettings.audit.${type}`);
  const actor = user?.global_name ?? user?.username ?? text("guildSettings.audit.system");
  const target = targetName(entry, names);
  const changes = readableChanges(entry, names, {
    yes: text("guildSettings.audit.yes"),
    no: text("guildSettings.audit.no"),
    none: text("guildSettings.audit.none"),
    permission: (name) => text(`permission.${name}`),
  });
  const details = Object.entries(entry.options ?? {}).map(
    ([key, value]) =>
      [key, names.channel(String(value)) ?? names.role(String(value)) ?? String(value)] as const,
  );
  const isEmpty = changes.length === 0 && details.length === 0;
  const label = (key: string): string =>
    CHANGE_KEYS.has(key) ? text(`guildSettings.audit.key.${key}` as MessageId) : key.replaceAll("_", " ");
  return (
    <li className="audit-entry">
      <AriaButton
        className="audit-summary"
        aria-expanded={open}
        isDisabled={isEmpty}
        onPress={() => setOpen(!open)}
      >
        <Avatar
          url={user === undefined ? null : avatarUrl(user, 32)}
          name={actor}
          size={32}
          hueKey={user?.id}
        />
        <span className="settings-row-text">
          <strong>
            {action}
            {target !== null && <span className="audit-target"> {target}</span>}
          </strong>
          <span>
            {actor} · {moment(momentOf(entry.id))}
          </span>
          {entry.reason !== undefined && (
            <span>{text("guildSettings.audit.reason", { reason: entry.reason })}</span>
          )}
        </span>
        {!isEmpty && (open ? <ChevronDown size={16} /> : <ChevronRight size={16} />)}
      </AriaButton>
      {open && (
        <dl className="audit-changes">
          {changes.map(({ key, before, after }) => (
            <div key={key}>
              <dt>{label(key)}</dt>
              <dd>
                {before !== null && <del>{before}</del>}
                {after !== null && <ins>{after}</ins>}
                {before === null && after === null && text("guildSettings.audit.changed")}
              </dd>
            </div>
          ))}
          {details.map(([key, value]) => (
            <div key={key}>
              <dt>{label(key)}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
    </li>
  );
}
