import type { APIMessage } from "discord-api-types/v10";
import { ShieldAlert } from "lucide-react";

import { Translate, useText } from "../../i18n/translate";
import { WithActionTexts } from "../../i18n/WithActionTexts";
import { Content } from "../content/Content";
import { fieldsOf } from "../content/embedFields";
import "./alerts.css";

interface AlertMessageProps {
  message: APIMessage;
  guildId: string | null;
}

/** Tells moderators what a rule of automatic moderation has done about somebody's message or name. */
export default function AlertMessage(props: AlertMessageProps) {
  return (
    <WithActionTexts>
      <Alert {...props} />
    </WithActionTexts>
  );
}

function Alert({ message, guildId }: AlertMessageProps) {
  const text = useText();
  const [embed] = message.embeds;
  const fields = fieldsOf(embed);
  const channelId = fields["channel_id"];
  const keyword = fields["keyword"];
  const blocked = fields["decision_outcome"] === "blocked";
  const profile = fields["quarantine_user"];
  const id =
    profile !== undefined
      ? "messageActions.alert.profile"
      : blocked
        ? "messageActions.alert.blocked"
        : "messageActions.alert.flagged";
  return (
    <div className="alert-message">
      <p className="message-system">
        <ShieldAlert size={16} aria-hidden="true" />{" "}
        <Translate id={id} values={{ rule: <strong key="rule">{fields["rule_name"]}</strong> }} />
      </p>
      {embed?.description && (
        <blockquote>
          <Content content={embed.description} guildId={guildId} />
        </blockquote>
      )}
      <dl className="alert-facts">
        {channelId !== undefined && (
          <div>
            <dt>{text("messageActions.alert.channel")}</dt>
            <dd>
              <Content content={`<#${channelId}>`} guildId={guildId} />
            </dd>
          </div>
        )}
        {keyword !== undefined && (
          <div>
            <dt>{text("messageActions.alert.keyword")}</dt>
            <dd>
              <code>{keyword}</code>
            </dd>
          </div>
        )}
        {fields["timeout_duration"] !== undefined && (
          <div>
            <dt>{text("messageActions.alert.timeout")}</dt>
            <dd>{text("messageActions.alert.seconds", { count: Number(fields["timeout_duration"]) })}</dd>
          </div>
        )}
      </dl>
    </div>
  );
}
