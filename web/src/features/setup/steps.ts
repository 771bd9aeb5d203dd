import type { ServerSetting } from "../../api/admin";
import type { MessageId } from "../../i18n/messages";
import { loaded, type LoadedComponent } from "../../ui/loaded";
import type { StepProps } from "./settings";

export interface Step {
  /** Its part of the path. */
  id: string;
  title: MessageId;
  /** The settings of which one is set once the step is done. */
  sets: readonly string[];
  View: LoadedComponent<StepProps>;
}

/** What an operator sets up after the account, in this order. */
export const STEPS: readonly Step[] = [
  { id: "factor", title: "setup.factor", sets: [], View: loaded(() => import("./FactorStep")) },
  {
    id: "instance",
    title: "setup.instance",
    sets: ["instance_name", "instance_icon"],
    View: loaded(() => import("./InstanceStep")),
  },
  {
    id: "registration",
    title: "setup.registration",
    sets: ["registration"],
    View: loaded(() => import("./RegistrationStep")),
  },
  { id: "mail", title: "setup.mail", sets: ["smtp_host"], View: loaded(() => import("./MailStep")) },
  {
    id: "storage",
    title: "setup.storage",
    sets: ["storage_quota_mb_per_user"],
    View: loaded(() => import("./StorageStep")),
  },
  { id: "guild", title: "setup.guild", sets: [], View: loaded(() => import("./GuildStep")) },
];

/** The ids of the steps that are done, by what there is already. */
export function doneSteps(
  settings: readonly ServerSetting[],
  { hasFactor, hasGuild }: { hasFactor: boolean; hasGuild: boolean },
): ReadonlySet<string> {
  const changed = new Set(settings.filter((each) => each.changed_at !== null).map(({ name }) => name));
  const done = STEPS.filter(({ sets }) => sets.some((name) => changed.has(name))).map(({ id }) => id);
  return new Set([...done, ...(hasFactor ? ["factor"] : []), ...(hasGuild ? ["guild"] : [])]);
}
