import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { disableTotp, getMfa } from "../../api/factors";
import { useText, WithTexts } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { loaded } from "../../ui/loaded";
import { ErrorNotice } from "../session/ErrorNotice";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { Passkeys } from "./Passkeys";

const EnableDialog = loaded(() => import("./EnableTotpDialog"));
const CodesDialog = loaded(() => import("./BackupCodesDialog"));

/** Two-factor authentication: whether it is on, and the buttons that change that. */
export function TwoFactors() {
  return (
    <WithTexts parts={["factors"]}>
      <Section />
    </WithTexts>
  );
}

function Section() {
  const text = useText();
  const { api, changeToken } = useSession();
  const isOn = useAppState((state) => state.user?.mfa_enabled === true);
  const methods = useQuery({ queryKey: ["mfa", isOn], queryFn: () => getMfa(api) });
  const hasTotp = methods.data?.totp === true;
  const action = useAction();
  const [dialog, setDialog] = useState<"enable" | "codes" | null>(null);
  const disable = async () => {
    const { goOn } = await changeToken(disableTotp);
    goOn();
  };
  const close = () => setDialog(null);
  return (
    <section className="preferences-block">
      <h2>{text("factors.title")}</h2>
      <p className="field-hint">{text(isOn ? "factors.on" : "factors.off")}</p>
      {isOn && methods.data !== undefined && (
        <p className="field-hint">{text("factors.codes.left", { count: methods.data.backup_codes })}</p>
      )}
      <ErrorNotice error={action.error} />
      <div className="preferences-save">
        {isOn && <Button onPress={() => setDialog("codes")}>{text("factors.codes.new")}</Button>}
        {hasTotp && dialog !== "enable" ? (
          <Button kind="danger" isDisabled={action.pending} onPress={() => void action.run(disable)}>
            {text("factors.disable")}
          </Button>
        ) : (
          <Button kind="primary" onPress={() => setDialog("enable")}>
            {text("factors.enable")}
          </Button>
        )}
      </div>
      <Passkeys />
      {dialog === "enable" && <EnableDialog onClose={close} />}
      {dialog === "codes" && <CodesDialog onClose={close} />}
    </section>
  );
}
