import { useState } from "react";

import { disableTotp } from "../../api/factors";
import { useText, WithTexts } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { loaded } from "../../ui/loaded";
import { ErrorNotice } from "../session/ErrorNotice";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";

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
  const { changeToken } = useSession();
  const isOn = useAppState((state) => state.user?.mfa_enabled === true);
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
      <ErrorNotice error={action.error} />
      <div className="preferences-save">
        {isOn && dialog !== "enable" ? (
          <>
            <Button onPress={() => setDialog("codes")}>{text("factors.codes.new")}</Button>
            <Button kind="danger" isDisabled={action.pending} onPress={() => void action.run(disable)}>
              {text("factors.disable")}
            </Button>
          </>
        ) : (
          <Button kind="primary" onPress={() => setDialog("enable")}>
            {text("factors.enable")}
          </Button>
        )}
      </div>
      {dialog === "enable" && <EnableDialog onClose={close} />}
      {dialog === "codes" && <CodesDialog onClose={close} />}
    </section>
  );
}
