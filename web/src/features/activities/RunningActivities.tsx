import { useQuery } from "@tanstack/react-query";
import { Rocket } from "lucide-react";
import { useMemo } from "react";

import { getShelf, launchActivity } from "../../api/activities";
import { guildIdOf } from "../../store/channels";
import { Translate, useText, WithTexts } from "../../i18n/translate";
import type { ActivityInstance } from "../../store/entities";
import { displayName } from "../../store/selectors";
import { Button } from "../../ui/controls";
import { ErrorNotice } from "../session/ErrorNotice";
import { Queries } from "../session/queries";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { useActivityName } from "./useActivityName";
import "./activities.css";

const PARTS = ["activities"] as const;
const MAX_NAMES = 3;

interface RunningActivitiesProps {
  channelId: string;
  mayJoin: boolean;
}

/** Which Activities run in a channel and who takes part, for everybody who sees it; to join. */
export default function RunningActivities({ channelId, mayJoin }: RunningActivitiesProps) {
  const activities = useAppState((state) => state.activities);
  const running = useMemo(
    () => Object.values(activities).filter((each) => each.location.channel_id === channelId),
    [activities, channelId],
  );
  return (
    <WithTexts parts={PARTS}>
      <Queries>
        <ul className="activity-running">
          {running.map((instance) => (
            <Running key={instance.instance_id} instance={instance} mayJoin={mayJoin} />
          ))}
        </ul>
      </Queries>
    </WithTexts>
  );
}

function Running({ instance, mayJoin }: { instance: ActivityInstance; mayJoin: boolean }) {
  const text = useText();
  const { api, store } = useSession();
  const action = useAction();
  const { application_id: applicationId, location, participants } = instance;
  const guildId = useAppState((state) => {
    const channel = state.channels[location.channel_id];
    return channel === undefined ? null : guildIdOf(channel);
  });
  const shown = useActivityName(applicationId);
  const shelf = useQuery({
    queryKey: ["shelf", guildId],
    queryFn: () => getShelf(api, guildId),
    staleTime: 60_000,
    retry: false,
  });
  const name = shelf.data?.applications.find(({ id }) => id === applicationId)?.name ?? shown;
  const isIn = useAppState((state) => participants.some((each) => each.session_id === state.sessionId));
  const users = useAppState((state) => state.users);
  const names = participants.slice(0, MAX_NAMES).map(({ user_id: id, member }) => {
    const user = member?.user ?? users[id];
    return member?.nick ?? (user === undefined ? id : displayName(store.state, user, guildId));
  });
  const join = () => launchActivity(api, location.channel_id, applicationId, store.state.sessionId ?? "");
  return (
    <li>
      <Rocket size={18} aria-hidden="true" />
      <span className="activity-running-text">
        <Translate
          id="activities.running"
          values={{
            name: <strong dir="auto">{name}</strong>,
            names: names.join(", "),
            others: participants.length - names.length,
          }}
        />
      </span>
      {isIn ? (
        <span className="activity-running-own">{text("activities.running.own")}</span>
      ) : (
        mayJoin && (
          <Button isDisabled={action.pending} onPress={() => void action.run(join)}>
            {text("activities.join")}
          </Button>
        )
      )}
      <ErrorNotice error={action.error} />
    </li>
  );
}
