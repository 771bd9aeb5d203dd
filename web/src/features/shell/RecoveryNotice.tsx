import { useEffect, useState } from "react";
import { useIntl } from "react-intl";

import { cancelRecovery, getRecovery } from "../../api/factors";
import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";

/** Warns that somebody has asked for the removal of the user's second factors, and stops it. */
export function RecoveryNotice() {
  const text = useText();
  const intl = useIntl();
  const { api } = useSession();
  // The server sends the user anew when a removal is asked for or called off.
  const user = useAppState((state) => state.user);
  const action = useAction();
  const [recoveryAt, setRecoveryAt] = useState<string | null>(null);
  useEffect(() => {
    let isShown = true;
    const read = user?.mfa_enabled === true ? getRecovery(api) : Promise.resolve({ recovery_at: null });
    read.then(
      ({ recovery_at }) => isShown && setRecoveryAt(recovery_at),
      // It is asked for again with the next change of the account.
      () => undefined,
    );
    return () => {
      isShown = false;
    };
  }, [api, user]);
  if (recoveryAt === null) {
    return null;
  }
  const moment = intl.formatDate(recoveryAt, { dateStyle: "medium", timeStyle: "short" });
  const keep = async () => {
    await cancelRecovery(api);
    setRecoveryAt(null);
  };
  return (
    <div className="shell-warning" role="alert">
      <span>{text("app.recovery", { moment })}</span>
      <Button kind="danger" isDisabled={action.pending} onPress={() => void action.run(keep)}>
        {text("app.recovery.keep")}
      </Button>
    </div>
  );
}
