import { MailOpen, Moon, Search, ShieldCheck, UserPlus, Users, type LucideIcon } from "lucide-react";
import { useMemo, useState } from "react";
import { Form, Tab, TabList, TabPanel, Tabs } from "react-aria-components";

import { sendFriendRequest } from "../../api/relationships";
import type { MessageId, Part } from "../../i18n/messages";
import { useText, WithTexts } from "../../i18n/translate";
import {
  filterRelationships,
  incomingRequestCount,
  RelationshipType,
  type FriendFilter,
} from "../../store/relationships";
import { Button } from "../../ui/controls";
import { EmptyPlace } from "../../ui/EmptyPlace";
import { TextField } from "../../ui/TextField";
import { SearchField } from "../../ui/fields";
import { useAppState, useSession } from "../session/session";
import { fieldError, useAction, useErrorText } from "../session/useAction";
import { FriendRow } from "./FriendRow";
import "./friends.css";

const PARTS: readonly Part[] = ["people"];

const FILTERS: readonly [FriendFilter, MessageId][] = [
  ["online", "friends.online"],
  ["all", "friends.all"],
  ["pending", "friends.pending"],
  ["blocked", "friends.blocked"],
];

/** The user's friends, friend requests and blocked users. */
export default function FriendsPage() {
  return (
    <WithTexts parts={PARTS}>
      <Friends />
    </WithTexts>
  );
}

function Friends() {
  const text = useText();
  const requests = useAppState(incomingRequestCount);
  const [tab, setTab] = useState<string | number>(() => (requests > 0 ? "pending" : "online"));
  return (
    <Tabs className="friends" selectedKey={tab} onSelectionChange={setTab}>
      <header className="channel-header friends-header">
        <h1>{text("friends.title")}</h1>
        <TabList className="tabs" aria-label={text("friends.tabs")}>
          {FILTERS.map(([filter, id]) => (
            <Tab key={filter} id={filter} className="tab">
              {text(id)}
              {filter === "pending" && requests > 0 && (
                <span
                  className="mentions"
                  role="img"
                  aria-label={text("friends.requests", { count: requests })}
                >
                  {requests}
                </span>
              )}
            </Tab>
          ))}
          <Tab id="add" className="tab tab-strong">
            <UserPlus size={16} aria-hidden="true" /> {text("friends.add")}
          </Tab>
        </TabList>
      </header>
      {FILTERS.map(([filter]) => (
        <TabPanel key={filter} id={filter} className="friends-panel">
          <FriendList filter={filter} onAdd={() => setTab("add")} />
        </TabPanel>
      ))}
      <TabPanel id="add" className="friends-panel">
        <AddFriend />
      </TabPanel>
    </Tabs>
  );
}

/** What stands where a list has nobody: icon, title, what the list is for. */
const EMPTY: Record<FriendFilter, readonly [LucideIcon, MessageId, MessageId]> = {
  online: [Moon, "friends.none.online", "friends.none.online.hint"],
  all: [Users, "friends.none.all", "friends.none.all.hint"],
  pending: [MailOpen, "friends.none.pending", "friends.none.pending.hint"],
  blocked: [ShieldCheck, "friends.none.blocked", "friends.none.blocked.hint"],
};

function FriendList({ filter, onAdd }: { filter: FriendFilter; onAdd: () => void }) {
  const text = useText();
  const [search, setSearch] = useState("");
  const relationships = useAppState((state) => state.relationships);
  const users = useAppState((state) => state.users);
  const presences = useAppState((state) => state.presences);
  const rows = useMemo(
    () => filterRelationships({ relationships, users, presences }, filter),
    [relationships, users, presences, filter],
  );
  const key = search.trim().toLocaleLowerCase();
  const shown = rows.filter(({ relationship, user }) =>
    [relationship.nickname, user.global_name, user.username].some((name) =>
      name?.toLocaleLowerCase().includes(key),
    ),
  );
  if (rows.length === 0) {
    const [icon, title, hint] = EMPTY[filter];
    return (
      <EmptyPlace
        icon={icon}
        title={text(title)}
        actions={
          filter !== "blocked" && (
            <Button kind="primary" onPress={onAdd}>
              <UserPlus size={16} aria-hidden="true" /> {text("friends.add")}
            </Button>
          )
        }
      >
        {text(hint)}
      </EmptyPlace>
    );
  }
  return (
    <>
      <SearchField
        label={text("friends.search")}
        icon={<Search size={16} aria-hidden="true" />}
        value={search}
        onChange={setSearch}
      />
      <p className="friends-count">{text("friends.count", { count: shown.length })}</p>
      {shown.length === 0 && <p className="friends-empty">{text("friends.none.search")}</p>}
      <ul className="friends-list">
        {shown.map(({ relationship, user }) => (
          <FriendRow key={user.id} relationship={relationship} user={user} />
        ))}
      </ul>
    </>
  );
}

function AddFriend() {
  const text = useText();
  const action = useAction();
  const errorText = useErrorText();
  const [name, setName] = useState("");
  const [sentTo, setSentTo] = useState<string | null>(null);
  const isFriend = useAppState((state) =>
    Object.values(state.relationships).some(
      (each) => each.type === RelationshipType.Friend && state.users[each.id]?.username === sentTo,
    ),
  );
  const { api } = useSession();
  const send = async () => {
    const username = name.trim().replace(/^@/, "");
    setSentTo(null);
    await sendFriendRequest(api, username);
    setSentTo(username);
    setName("");
  };
  return (
    <Form
      className="stack friends-add"
      validationBehavior="aria"
      onSubmit={(event) => {
        event.preventDefault();
        void action.run(send);
      }}
    >
      <h2>{text("friends.add")}</h2>
      <TextField
        label={text("friends.add.name")}
        hint={text("friends.add.hint")}
        value={name}
        onChange={setName}
        autoFocus
        isRequired
        error={
          fieldError(action.error, "username") ??
          (action.error === null ? undefined : errorText(action.error))
        }
      />
      <p role="status" className="friends-sent">
        {sentTo !== null && text(isFriend ? "friends.add.accepted" : "friends.add.sent", { name: sentTo })}
      </p>
      <div>
        <Button type="submit" kind="primary" isDisabled={action.pending || name.trim() === ""}>
          {text("friends.add.submit")}
        </Button>
      </div>
    </Form>
  );
}
