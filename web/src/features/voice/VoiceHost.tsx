import { useEffect, useState } from "react";

import type { MessageId, Part } from "../../i18n/messages";
import { useText, WithTexts } from "../../i18n/translate";
import { displayName } from "../../store/selectors";
import { ownVoiceState } from "../../store/voice";
import { startVoice } from "../../voice/client";
import type { Phase } from "../../voice/status";
import { useAppState, useSession } from "../session/session";
import { useSounds } from "./useSounds";
import { useVolumesKey } from "./useVolumesKey";
import { useVoiceStatus } from "./useVoiceStatus";

const PARTS: readonly Part[] = ["voice"];

const ANNOUNCED: Readonly<Partial<Record<Phase, MessageId>>> = {
  connected: "voice.announce.connected",
  reconnecting: "voice.announce.reconnecting",
  failed: "voice.announce.failed",
};

interface Change {
  userId: string;
  kind: "joined" | "left";
}

/** Carries the sound of the account, and tells screen readers what others hear and see. */
export default function VoiceHost() {
  const session = useSession();
  const volumesKey = useVolumesKey();
  const [change, setChange] = useState<Change | null>(null);
  useEffect(() => {
    const { store, gateway, account } = session;
    const { userId } = account;
    return startVoice({
      store,
      gateway,
      userId,
      volumesKey,
      onMember: (otherId, kind) => setChange({ userId: otherId, kind }),
    });
  }, [session, volumesKey]);
  return (
    <WithTexts parts={PARTS}>
      <Announcements change={change} />
    </WithTexts>
  );
}

function Announcements({ change }: { change: Change | null }) {
  const text = useText();
  const guildId = useAppState((state) => ownVoiceState(state)?.guildId ?? "");
  useSounds(guildId);
  const phase = useVoiceStatus((status) => status.phase);
  const name = useAppState((state) => {
    const user = state.users[change?.userId ?? ""];
    return user === undefined ? "" : displayName(state, user, guildId);
  });
  const announced = ANNOUNCED[phase ?? "connecting"];
  return (
    <>
      <p className="visually-hidden" role="status">
        {announced !== undefined && text(announced)}
      </p>
      <p className="visually-hidden" role="status">
        {change !== null && name !== "" && text(`voice.announce.${change.kind}`, { name })}
      </p>
    </>
  );
}
