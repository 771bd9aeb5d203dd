import { useQuery, useQueryClient } from "@tanstack/react-query";

import { listPushSubscriptions } from "../../api/push";
import { useText } from "../../i18n/translate";
import { Switch } from "../../ui/fields";
import { useSession } from "../session/session";
import { useAction, useErrorText } from "../session/useAction";
import { isPushSupported, PushDenied, subscribeToPush, unsubscribeFromPush } from "./push";

const KEY = ["push-subscriptions"];

/** Notifications while no page of the client is open, where the operator and the browser allow them. */
export function PushSwitch() {
  const text = useText();
  const { api } = useSession();
  const queries = useQueryClient();
  const action = useAction();
  const errorText = useErrorText();
  const state = useQuery({
    queryKey: KEY,
    queryFn: () => listPushSubscriptions(api),
    enabled: isPushSupported(),
  });
  const publicKey = state.data?.public_key ?? null;
  if (publicKey === null) {
    return null;
  }
  const change = (subscribe: boolean) =>
    void action.run(async () => {
      await (subscribe ? subscribeToPush(api, publicKey) : unsubscribeFromPush(api));
      await queries.invalidateQueries({ queryKey: KEY });
    });
  return (
    <>
      <Switch
        label={text("settings.notifications.push")}
        hint={text("settings.notifications.pushHint")}
        isSelected={state.data?.subscriptions.some((each) => each.current) ?? false}
        isDisabled={action.pending}
        onChange={change}
      />
      {action.error !== null && (
        <p role="alert" className="notice notice-danger">
          {action.error instanceof PushDenied
            ? text("settings.notifications.denied")
            : action.error instanceof DOMException
              ? text("settings.notifications.pushFailed")
              : errorText(action.error)}
        </p>
      )}
    </>
  );
}
