import { useQuery } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { useState } from "react";

import { deleteConnection, getConnections, putConnection } from "../../../api/settings";
import { useText } from "../../../i18n/translate";
import { IconButton } from "../../../ui/controls";
import { TextField } from "../../../ui/TextField";
import { Switch } from "../../../ui/fields";
import { Select } from "../../../ui/Select";
import { ErrorNotice } from "../../session/ErrorNotice";
import { useSession } from "../../session/session";
import { fieldError, useAction } from "../../session/useAction";
import { QueryList } from "../QueryList";
import { SERVICES } from "../services";
import { SettingsForm } from "../SettingsForm";

const EVERYONE = 1;

/** The user's accounts on other services, which they name themselves. */
export default function Connections() {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const connections = useQuery({ queryKey: ["connections"], queryFn: () => getConnections(api) });
  const run = (request: () => Promise<unknown>) =>
    action.run(async () => {
      await request();
      await connections.refetch();
    });
  return (
    <>
      <section className="preferences-block">
        <p className="field-hint">{text("settings.connections.hint")}</p>
        <QueryList query={connections} none={text("settings.connections.none")}>
          {(connection) => (
            <li key={`${connection.type} ${connection.id}`} className="preferences-row">
              <span className="preferences-text">
                <strong>{connection.name}</strong>
                <span className="field-hint">{serviceName(connection.type)}</span>
              </span>
              <Switch
                label={text("settings.connections.visible")}
                isSelected={connection.visibility === EVERYONE}
                onChange={(visible) =>
                  void run(() => putConnection(api, { ...connection, visibility: visible ? EVERYONE : 0 }))
                }
              />
              <IconButton
                label={text("settings.connections.remove", { name: connection.name })}
                onPress={() => void run(() => deleteConnection(api, connection))}
              >
                <Trash2 size={18} />
              </IconButton>
            </li>
          )}
        </QueryList>
        <ErrorNotice error={action.error} />
      </section>
      <AddConnection onAdded={() => void connections.refetch()} />
    </>
  );
}

function serviceName(type: string): string {
  return SERVICES.find(([id]) => id === type)?.[1] ?? type;
}

function AddConnection({ onAdded }: { onAdded: () => void }) {
  const text = useText();
  const { api } = useSession();
  const [type, setType] = useState<string>("github");
  const [name, setName] = useState("");
  const add = async () => {
    const trimmed = name.trim();
    await putConnection(api, { type, id: trimmed, name: trimmed, visibility: EVERYONE });
    setName("");
    onAdded();
  };
  return (
    <section className="preferences-block">
      <h2>{text("settings.connections.add")}</h2>
      <SettingsForm
        onSave={add}
        submit={text("settings.connections.submit")}
        done={text("settings.connections.added")}
        isDisabled={name.trim() === ""}
      >
        {({ error }) => (
          <>
            <Select
              label={text("settings.connections.service")}
              value={type}
              options={SERVICES}
              onChange={setType}
            />
            <TextField
              label={text("settings.connections.name")}
              value={name}
              onChange={setName}
              error={fieldError(error, "name")}
            />
          </>
        )}
      </SettingsForm>
    </section>
  );
}
