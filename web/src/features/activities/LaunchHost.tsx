import { useEffect } from "react";

import { launchActivity } from "../../api/activities";
import type { Part } from "../../i18n/messages";
import { useText, WithTexts } from "../../i18n/translate";
import { DialogFooter } from "../../ui/DialogFooter";
import { Dialog } from "../../ui/Dialog";
import { ErrorNotice } from "../session/ErrorNotice";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { requestLaunch, type Launch } from "./launching";

const PARTS: readonly Part[] = ["activities"];

/** Launches an Activity that a link or an invite leads to, and says why if that is refused. */
export default function LaunchHost({ launch }: { launch: Launch }) {
  const { api } = useSession();
  const action = useAction();
  const sessionId = useAppState((state) => state.sessionId);
  const isKnown = useAppState((state) => launch.channelId in state.channels);
  const start = async () => {
    const { channelId, applicationId } = launch;
    if (await action.run(() => launchActivity(api, channelId, applicationId, sessionId ?? ""))) {
      requestLaunch(null);
    }
  };
  const ready = isKnown && sessionId !== null;
  useEffect(() => {
    if (ready) {
      void start();
    }
    // Once for each request: it is repeated by the button alone.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [launch, ready]);
  return action.error === null ? null : (
    <WithTexts parts={PARTS}>
      <Refused action={action} onRetry={() => void start()} />
    </WithTexts>
  );
}

function Refused({ action, onRetry }: { action: ReturnType<typeof useAction>; onRetry: () => void }) {
  const text = useText();
  return (
    <Dialog title={text("activities.open.failed")} onClose={() => requestLaunch(null)}>
      <ErrorNotice error={action.error} />
      <DialogFooter
        confirm={text("activities.open.retry")}
        isDisabled={action.pending}
        onConfirm={onRetry}
        cancel={text("common.close")}
        onCancel={() => requestLaunch(null)}
      />
    </Dialog>
  );
}
