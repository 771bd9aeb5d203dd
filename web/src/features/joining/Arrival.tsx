import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { getOnboarding, getOwnJoinRequest, getWelcomeScreen, withdrawJoinRequest } from "../../api/joining";
import type { Part } from "../../i18n/messages";
import { useText, WithTexts } from "../../i18n/translate";
import type { GuildState } from "../../store/state";
import { Button } from "../../ui/controls";
import { Queries } from "../session/queries";
import { useAppState, useSession } from "../session/session";
import { useAction, useErrorText } from "../session/useAction";
import { endArrival, hasJustArrived, isArrivalOver } from "./arrival";
import { OnboardingDialog } from "./Onboarding";
import { ScreeningDialog } from "./Screening";
import { WelcomeDialog } from "./Welcome";
import "./joining.css";

const PARTS: readonly Part[] = ["joining"];
const COMPLETED_ONBOARDING = 1 << 1;

/** What a new member of a guild meets: rules to agree to, questions, and a welcome. */
export default function Arrival({ guild }: { guild: GuildState }) {
  return (
    <WithTexts parts={PARTS}>
      <Queries>
        <Steps key={guild.id} guild={guild} />
      </Queries>
    </WithTexts>
  );
}

function Steps({ guild }: { guild: GuildState }) {
  const { api } = useSession();
  const member = useAppState((state) => state.members[guild.id]?.[state.user?.id ?? ""]);
  const isPending = member?.pending === true;
  const [arrived, setArrived] = useState(() => hasJustArrived(guild.id));
  const [answered, setAnswered] = useState(false);
  const asks = arrived && !isPending && !answered && ((member?.flags ?? 0) & COMPLETED_ONBOARDING) === 0;
  const onboarding = useQuery({
    queryKey: ["onboarding", guild.id],
    queryFn: () => getOnboarding(api, guild.id),
    enabled: asks,
    retry: false,
  });
  const hasQuestions =
    asks &&
    onboarding.data?.enabled === true &&
    onboarding.data.prompts.some((prompt) => prompt.in_onboarding);
  const isAsked = !asks || (onboarding.isFetched && !hasQuestions);
  const welcomes = arrived && !isPending && isAsked && guild.features.includes("WELCOME_SCREEN_ENABLED");
  const welcome = useQuery({
    queryKey: ["welcome", guild.id],
    queryFn: () => getWelcomeScreen(api, guild.id),
    enabled: welcomes,
    retry: false,
  });
  const isOver =
    arrived &&
    isArrivalOver({
      isPending,
      questions: !asks ? "none" : !onboarding.isSuccess ? "unknown" : hasQuestions ? "some" : "none",
      welcome: !welcomes ? "none" : welcome.isError ? "none" : "some",
    });
  useEffect(() => {
    if (isOver) {
      endArrival(guild.id);
      // eslint-disable-next-line react-hooks/set-state-in-effect -- what is stored ends together with what is shown
      setArrived(false);
    }
  }, [isOver, guild.id]);
  if (isPending) {
    return <PendingBanner guild={guild} opensAtOnce={arrived} />;
  }
  if (hasQuestions && onboarding.data !== undefined) {
    return <OnboardingDialog guild={guild} onboarding={onboarding.data} onClose={() => setAnswered(true)} />;
  }
  if (welcomes && welcome.data !== undefined) {
    const close = () => {
      endArrival(guild.id);
      setArrived(false);
    };
    return <WelcomeDialog guild={guild} screen={welcome.data} onClose={close} />;
  }
  return null;
}

/** Says that the member may only look around yet, and what they have to do. */
function PendingBanner({ guild, opensAtOnce }: { guild: GuildState; opensAtOnce: boolean }) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const errorText = useErrorText();
  const [open, setOpen] = useState(opensAtOnce);
  const request = useQuery({
    queryKey: ["join request", guild.id],
    queryFn: () => getOwnJoinRequest(api, guild.id).catch(() => null),
    retry: false,
  });
  const waits = request.data?.application_status === "SUBMITTED";
  const withdraw = async () => {
    await withdrawJoinRequest(api, guild.id);
    await request.refetch();
  };
  return (
    <>
      <div className="notice arrival-banner" role="status">
        <span>{text(waits ? "joining.pending.waits" : "joining.pending", { name: guild.name })}</span>
        {waits ? (
          <Button isDisabled={action.pending} onPress={() => void action.run(withdraw)}>
            {text("joining.pending.withdraw")}
          </Button>
        ) : (
          <Button kind="primary" onPress={() => setOpen(true)}>
            {text("joining.pending.start")}
          </Button>
        )}
        {action.error !== null && <span className="field-error">{errorText(action.error)}</span>}
      </div>
      {open && !waits && request.isFetched && (
        <ScreeningDialog
          guild={guild}
          onClose={() => {
            setOpen(false);
            void request.refetch();
          }}
        />
      )}
    </>
  );
}
