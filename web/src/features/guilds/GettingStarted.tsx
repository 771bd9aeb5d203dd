import { useNavigate } from "@tanstack/react-router";
import {
  Bot,
  Circle,
  CircleCheck,
  Hash,
  Image,
  ScrollText,
  UserPlus,
  X,
  type LucideIcon,
} from "lucide-react";
import { useMemo } from "react";
import { Button as AriaButton } from "react-aria-components";

import type { MessageId, Part } from "../../i18n/messages";
import { useText, WithTexts } from "../../i18n/translate";
import { guildIdOf } from "../../store/channels";
import type { GuildState } from "../../store/state";
import { IconButton } from "../../ui/controls";
import { useAppState } from "../session/session";
import { STEPS, stepsDone, type Step } from "./beginning";
import "./beginning.css";

const PARTS: readonly Part[] = ["beginning"];

const VIEW: Readonly<Record<Step, readonly [LucideIcon, MessageId]>> = {
  invite: [UserPlus, "beginning.invite"],
  icon: [Image, "beginning.icon"],
  channels: [Hash, "beginning.channels"],
  rules: [ScrollText, "beginning.rules"],
  bot: [Bot, "beginning.bot"],
};

/** Where the settings of a guild have the step. */
const SECTIONS: Partial<Record<Step, string>> = { icon: "overview", rules: "overview", bot: "integrations" };

interface GettingStartedProps {
  guild: GuildState;
  onInvite: () => void;
  onChannel: () => void;
  onHide: () => void;
}

/** The first steps of a new guild for its owner; each is ticked when the guild shows that it is done. */
export default function GettingStarted(props: GettingStartedProps) {
  return (
    <WithTexts parts={PARTS}>
      <Steps {...props} />
    </WithTexts>
  );
}

function Steps({ guild, onInvite, onChannel, onHide }: GettingStartedProps) {
  const text = useText();
  const navigate = useNavigate();
  const channels = useAppState((state) => state.channels);
  const done = useMemo(
    () =>
      stepsDone(
        guild,
        Object.values(channels).filter((channel) => guildIdOf(channel) === guild.id),
      ),
    [guild, channels],
  );
  const act = (step: Step) => {
    const sectionId = SECTIONS[step];
    if (sectionId !== undefined) {
      void navigate({
        to: "/app/guilds/$guildId/settings/{-$sectionId}/{-$itemId}",
        params: { guildId: guild.id, sectionId },
      });
    } else if (step === "invite") {
      onInvite();
    } else {
      onChannel();
    }
  };
  if (done.size === STEPS.length) {
    return null;
  }
  return (
    <section className="beginning" aria-labelledby="beginning-title">
      <div className="beginning-header">
        <h2 id="beginning-title">{text("beginning.title", { name: guild.name })}</h2>
        <IconButton label={text("beginning.hide")} onPress={onHide}>
          <X size={16} />
        </IconButton>
      </div>
      <p className="field-hint" role="status">
        {text("beginning.progress", { done: done.size, count: STEPS.length })}
      </p>
      <ul>
        {STEPS.map((step) => {
          const [Icon, id] = VIEW[step];
          const isDone = done.has(step);
          return (
            <li key={step}>
              {isDone ? (
                <span className="beginning-step beginning-done">
                  <CircleCheck size={18} aria-hidden="true" />
                  <span>
                    {text(id)} <span className="visually-hidden">({text("beginning.done")})</span>
                  </span>
                </span>
              ) : (
                <AriaButton className="beginning-step" onPress={() => act(step)}>
                  <Circle size={18} aria-hidden="true" />
                  <span>{text(id)}</span>
                  <Icon size={16} className="beginning-icon" aria-hidden="true" />
                </AriaButton>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
