import { useText } from "../../i18n/translate";
import { useAppState } from "../session/session";

/** The name that participants' presences show for an application. */
export function useActivityName(applicationId: string): string {
  const text = useText();
  const name = useAppState(
    (state) =>
      Object.values(state.presences)
        .flatMap((presence) => presence.activities ?? [])
        .find((each) => each.application_id === applicationId)?.name,
  );
  return name ?? text("activities.unnamed");
}
