import { useQuery } from "@tanstack/react-query";
import type { APIGuildMember } from "discord-api-types/v10";
import { useDeferredValue, useState } from "react";
import { ComboBox, Input, Label, ListBox, ListBoxItem, Popover } from "react-aria-components";

import { avatarUrl } from "../../api/images";
import { searchMembers } from "../../api/moderation";
import type { MessageId } from "../../i18n/messages";
import { useText } from "../../i18n/translate";
import { Avatar } from "../../ui/controls";
import { useSession } from "../session/session";

interface MemberFieldProps {
  label: string;
  guildId: string;
  /** Called with the chosen member, and null once the text no longer names them. */
  onChange: (member: APIGuildMember | null) => void;
  /** Empties the field after a choice, to choose several one after the other. */
  clears?: boolean;
}

function emptyState(query: string, isFetching: boolean): MessageId {
  if (query === "") {
    return "guildSettings.member.search";
  }
  return isFetching ? "app.loading" : "guildSettings.member.none";
}

/** The name that a member is shown by. */
export function memberName(member: APIGuildMember): string {
  return member.nick ?? member.user.global_name ?? member.user.username;
}

/** Finds a member by the start of their name, on the server. */
export function MemberField(props: MemberFieldProps) {
  // A field that is to be empty after each choice is a new one.
  const [choices, setChoices] = useState(0);
  const choose = (member: APIGuildMember | null) => {
    props.onChange(member);
    if (props.clears === true && member !== null) {
      setChoices(choices + 1);
    }
  };
  return <MemberSearch key={choices} {...props} autoFocus={choices > 0} onChange={choose} />;
}

function MemberSearch({
  label,
  guildId,
  onChange,
  clears = false,
  autoFocus,
}: MemberFieldProps & { autoFocus: boolean }) {
  const text = useText();
  const { api, account } = useSession();
  const [input, setInput] = useState("");
  const query = useDeferredValue(input.trim());
  const search = useQuery({
    queryKey: [account.userId, "guild", guildId, "member search", query],
    queryFn: () => searchMembers(api, guildId, query),
    enabled: query !== "",
    retry: false,
  });
  const members = query === "" ? [] : (search.data ?? []).slice(0, 25);
  const choose = (userId: string | number | null) => {
    const member = members.find(({ user }) => user.id === userId) ?? null;
    if (member !== null) {
      setInput(memberName(member));
      onChange(member);
    }
  };
  return (
    <ComboBox
      className="field"
      items={members.map((member) => ({ id: member.user.id, member }))}
      inputValue={input}
      onInputChange={(next) => {
        setInput(next);
        if (!clears) {
          onChange(null);
        }
      }}
      onChange={choose}
      value={null}
      allowsEmptyCollection
      menuTrigger="input"
    >
      <Label>{label}</Label>
      <Input dir="auto" placeholder={text("guildSettings.member.search")} autoFocus={autoFocus} />
      <Popover className="menu-popover">
        <ListBox
          className="picker-list"
          renderEmptyState={() => (
            <span className="picker-empty">{text(emptyState(query, search.isFetching))}</span>
          )}
        >
          {({ id, member }: { id: string; member: APIGuildMember }) => (
            <ListBoxItem id={id} textValue={memberName(member)} className="menu-item">
              <Avatar
                url={avatarUrl(member.user, 20)}
                name={memberName(member)}
                size={20}
                hueKey={member.user.id}
              />
              {memberName(member)} <span className="field-hint">{member.user.username}</span>
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}
