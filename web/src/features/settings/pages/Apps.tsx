import { useQuery } from "@tanstack/react-query";

import { appIconUrl } from "../../../api/images";
import { getAuthorizations, revokeAuthorization } from "../../../api/settings";
import { useText } from "../../../i18n/translate";
import { Avatar, Button } from "../../../ui/controls";
import { Switch } from "../../../ui/fields";
import { ErrorNotice } from "../../session/ErrorNotice";
import { useSession } from "../../session/session";
import { useAction } from "../../session/useAction";
import { useSettings } from "../../session/useSettings";
import { QueryList } from "../QueryList";

/** The applications that may use the user's account. */
export default function Apps() {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const authorizations = useQuery({
    queryKey: ["authorizations"],
    queryFn: () => getAuthorizations(api),
  });
  const revoke = (id: string) =>
    action.run(async () => {
      await revokeAuthorization(api, id);
      await authorizations.refetch();
    });
  return (
    <section className="preferences-block">
      <p className="field-hint">{text("settings.apps.hint")}</p>
      <QueryList query={authorizations} none={text("settings.apps.none")}>
        {({ id, application, scopes, user_install }) => (
          <li key={id} className="preferences-row">
            <Avatar
              url={appIconUrl(application.id, application.icon, 40)}
              name={application.name}
              size={40}
              tile
            />
            <span className="preferences-text">
              <strong>{application.name}</strong>
              {application.description !== "" && <span>{application.description}</span>}
              <span className="field-hint">
                {text("settings.apps.scopes", { scopes: scopes.join(", ") })}
              </span>
              {user_install && <span className="field-hint">{text("settings.apps.installed")}</span>}
            </span>
            <Button kind="danger" isDisabled={action.pending} onPress={() => void revoke(id)}>
              {text("settings.apps.revoke")}
            </Button>
          </li>
        )}
      </QueryList>
      <ErrorNotice error={action.error} />
      <DeveloperMode />
      <p>
        <a href="/developers">{text("settings.links.developers")}</a>
      </p>
    </section>
  );
}

function DeveloperMode() {
  const text = useText();
  const { settings, change, action } = useSettings();
  return (
    <>
      <ErrorNotice error={action.error} />
      <Switch
        label={text("settings.developer")}
        hint={text("settings.developer.hint")}
        isSelected={settings.developer_mode}
        onChange={(isOn) => void change({ developer_mode: isOn })}
      />
    </>
  );
}
