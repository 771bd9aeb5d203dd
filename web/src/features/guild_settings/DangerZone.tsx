import { useNavigate } from "@tanstack/react-router";
import type { APIGuildMember } from "discord-api-types/v10";
import { useState } from "react";

import { deleteGuild, modifyGuild } from "../../api/guild_settings";
import { leaveGuild } from "../../api/guilds";
import { useText } from "../../i18n/translate";
import type { GuildState } from "../../store/state";
import { Button } from "../../ui/controls";
import { TextField } from "../../ui/TextField";
import { useAppState, useSession } from "../session/session";
import { expectLoss } from "../guilds/lost";
import { Confirm } from "../session/Confirm";
import { MemberField } from "../members/MemberField";
import { MfaLevel } from "./MfaLevel";

type Open = "transfer" | "delete" | "leave" | null;

/** Gives the guild to somebody else, deletes it, or leaves it. */
export function DangerZone({ guild }: { guild: GuildState }) {
  const text = useText();
  const { api } = useSession();
  const navigate = useNavigate();
  const [open, setOpen] = useState<Open>(null);
  const [owner, setOwner] = useState<APIGuildMember | null>(null);
  const [typed, setTyped] = useState("");
  const isOwner = useAppState((state) => state.user?.id === guild.ownerId);
  const close = () => {
    setOpen(null);
    setOwner(null);
    setTyped("");
  };
  const goHome = () => navigate({ to: "/channels/@me" });
  return (
    <section className="danger-zone" aria-labelledby="danger-zone">
      <h2 id="danger-zone">{text("guildSettings.danger")}</h2>
      {isOwner ? (
        <>
          <MfaLevel guildId={guild.id} />
          <Row title={text("guildSettings.transfer")} hint={text("guildSettings.transfer.hint")}>
            <Button onPress={() => setOpen("transfer")}>{text("guildSettings.transfer")}</Button>
          </Row>
          <Row title={text("guildSettings.delete")} hint={text("guildSettings.delete.hint")}>
            <Button kind="danger" onPress={() => setOpen("delete")}>
              {text("guildSettings.delete")}
            </Button>
          </Row>
        </>
      ) : (
        <Row title={text("guild.leave")} hint={text("guildSettings.leave.hint")}>
          <Button kind="danger" onPress={() => setOpen("leave")}>
            {text("guild.leave")}
          </Button>
        </Row>
      )}
      {open === "transfer" && (
        <Confirm
          title={text("guildSettings.transfer")}
          question={text("guildSettings.transfer.question", { name: guild.name })}
          confirm={text("guildSettings.transfer")}
          isDisabled={owner === null}
          onConfirm={() => modifyGuild(api, guild.id, { owner_id: owner?.user.id ?? "" })}
          onClose={close}
        >
          <MemberField label={text("guildSettings.transfer.to")} guildId={guild.id} onChange={setOwner} />
        </Confirm>
      )}
      {open === "delete" && (
        <Confirm
          title={text("guildSettings.delete")}
          question={text("guildSettings.delete.hint")}
          confirm={text("guildSettings.delete")}
          isDisabled={typed !== guild.name}
          onConfirm={async () => {
            expectLoss(guild.id);
            await deleteGuild(api, guild.id);
            await goHome();
          }}
          onClose={close}
        >
          <TextField
            label={text("guildSettings.delete.type", { name: guild.name })}
            value={typed}
            onChange={setTyped}
            autoFocus
          />
        </Confirm>
      )}
      {open === "leave" && (
        <Confirm
          title={text("guild.leave")}
          question={text("guild.leave.question", { name: guild.name })}
          confirm={text("guild.leave")}
          onConfirm={async () => {
            expectLoss(guild.id);
            await leaveGuild(api, guild.id);
            await goHome();
          }}
          onClose={close}
        />
      )}
    </section>
  );
}

function Row({ title, hint, children }: { title: string; hint: string; children: React.ReactNode }) {
  return (
    <div className="settings-row">
      <span className="settings-row-text">
        <strong>{title}</strong>
        <span>{hint}</span>
      </span>
      {children}
    </div>
  );
}
