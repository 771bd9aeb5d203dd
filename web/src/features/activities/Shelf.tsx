import { useQuery } from "@tanstack/react-query";
import type { APIApplication } from "discord-api-types/v10";

import { getShelf, launchActivity } from "../../api/activities";
import { appIconUrl } from "../../api/images";
import { Translate, useText, WithTexts } from "../../i18n/translate";
import type { ActivityInstance } from "../../store/entities";
import { Avatar, Button } from "../../ui/controls";
import { closePanel } from "../overlays/panels";
import { SidePanel, SidePanelBody } from "../overlays/SidePanel";
import { Queries } from "../session/queries";
import { useAppState, useSession } from "../session/session";
import { useAction, useErrorText } from "../session/useAction";
import "./activities.css";

const PARTS = ["activities"] as const;

interface ShelfProps {
  channelId: string;
  guildId: string | null;
}

/** The Activities that run in a channel or can be launched there, beside it. */
export default function Shelf(props: ShelfProps) {
  const text = useText();
  return (
    <SidePanel title={text("channel.activities")}>
      <SidePanelBody>
        <Queries>
          <WithTexts parts={PARTS}>
            <Entries {...props} />
          </WithTexts>
        </Queries>
      </SidePanelBody>
    </SidePanel>
  );
}

function Entries({ channelId, guildId }: ShelfProps) {
  const { api, store } = useSession();
  const errorText = useErrorText();
  const action = useAction();
  const activities = useAppState((state) => state.activities);
  const shelf = useQuery({
    queryKey: ["shelf", guildId],
    queryFn: () => getShelf(api, guildId),
    retry: false,
  });
  const running = Object.values(activities).filter((each) => each.location.channel_id === channelId);
  const applications = shelf.data?.applications ?? [];
  const launch = async (applicationId: string) => {
    const sessionId = store.state.sessionId ?? "";
    if (await action.run(() => launchActivity(api, channelId, applicationId, sessionId))) {
      closePanel();
    }
  };
  const others = running.filter((each) => !applications.some(({ id }) => id === each.application_id));
  const error = shelf.error ?? action.error;
  return (
    <>
      {error !== null && (
        <p role="alert" className="notice notice-danger">
          {errorText(error)}
        </p>
      )}
      {shelf.isPending && (
        <p role="status">
          <Translate id="app.loading" />
        </p>
      )}
      {shelf.isSuccess && applications.length + others.length === 0 && (
        <p className="activity-none">
          <Translate id="activities.none" />
        </p>
      )}
      <ul className="activity-shelf">
        {others.map((each) => (
          <Entry
            key={each.instance_id}
            applicationId={each.application_id}
            application={null}
            instance={each}
            pending={action.pending}
            onLaunch={launch}
          />
        ))}
        {applications.map((application) => (
          <Entry
            key={application.id}
            applicationId={application.id}
            application={application}
            instance={running.find((each) => each.application_id === application.id) ?? null}
            pending={action.pending}
            onLaunch={launch}
          />
        ))}
      </ul>
    </>
  );
}

interface EntryProps {
  applicationId: string;
  application: APIApplication | null;
  instance: ActivityInstance | null;
  pending: boolean;
  onLaunch: (applicationId: string) => Promise<void>;
}

function Entry({ applicationId, application, instance, pending, onLaunch }: EntryProps) {
  const text = useText();
  const name = application?.name ?? text("activities.unnamed");
  return (
    <li>
      <Avatar url={appIconUrl(applicationId, application?.icon ?? null, 64)} name={name} size={40} tile />
      <span className="activity-entry">
        <strong>{name}</strong>
        <span className="activity-about">
          {instance === null
            ? application?.description
            : text("activities.participants", { count: instance.participants.length })}
        </span>
      </span>
      <Button kind="primary" isDisabled={pending} onPress={() => void onLaunch(applicationId)}>
        {text(instance === null ? "activities.launch" : "activities.join")}
      </Button>
    </li>
  );
}
