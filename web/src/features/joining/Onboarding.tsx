import { useState } from "react";

import { submitOnboarding, type Onboarding } from "../../api/joining";
import { useText } from "../../i18n/translate";
import { ChannelOverrideFlags, GuildSettingsFlags } from "../../store/settings";
import type { GuildState } from "../../store/state";
import { Button } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { changeGuildSettings } from "../notifications/mute";
import { ErrorNotice } from "../session/ErrorNotice";
import { useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { Prompt } from "./Prompt";
import { isUnanswered } from "./responses";

interface OnboardingDialogProps {
  guild: GuildState;
  onboarding: Onboarding;
  onClose: () => void;
}

/** The questions that a guild asks new members, one after the other. */
export function OnboardingDialog({ guild, onboarding, onClose }: OnboardingDialogProps) {
  const text = useText();
  const session = useSession();
  const action = useAction();
  const [chosen, setChosen] = useState<readonly string[]>(onboarding.responses ?? []);
  const [step, setStep] = useState(0);
  const prompts = onboarding.prompts.filter((prompt) => prompt.in_onboarding);
  const prompt = prompts[step];
  const isLast = step === prompts.length - 1;
  const finish = async () => {
    const answers = await submitOnboarding(session.api, guild.id, chosen, prompts, false);
    // The channel list begins with the channels that the answers lead to.
    await changeGuildSettings(session, guild.id, {
      flags: (session.store.state.guildSettings[guild.id]?.flags ?? 0) | GuildSettingsFlags.OptInChannelsOn,
      channel_overrides: Object.fromEntries(
        answers.channel_ids.map((id) => [id, { flags: ChannelOverrideFlags.OptInEnabled }]),
      ),
    });
    onClose();
  };
  if (prompt === undefined) {
    return null;
  }
  return (
    <Dialog title={text("joining.onboarding", { name: guild.name })} onClose={onClose}>
      <p className="field-hint">{text("joining.step", { step: step + 1, count: prompts.length })}</p>
      <Prompt prompt={prompt} chosen={chosen} onChange={setChosen} />
      <ErrorNotice error={action.error} />
      <div className="dialog-actions">
        {step > 0 && <Button onPress={() => setStep(step - 1)}>{text("common.back")}</Button>}
        <Button
          kind="primary"
          isDisabled={action.pending || isUnanswered(prompt, chosen)}
          onPress={() => (isLast ? void action.run(finish) : setStep(step + 1))}
        >
          {text(isLast ? "joining.finish" : "joining.next")}
        </Button>
      </div>
    </Dialog>
  );
}
