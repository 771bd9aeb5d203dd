import { useState } from "react";

import {
  listJoinRequests,
  reviewJoinRequest,
  type JoinRequest,
  type JoinRequestStatus,
} from "../../../api/guild_settings";
import { avatarUrl } from "../../../api/images";
import { useText } from "../../../i18n/translate";
import { Avatar, Button } from "../../../ui/controls";
import { TextField } from "../../../ui/TextField";
import { Select } from "../../../ui/Select";
import { ErrorNotice } from "../../session/ErrorNotice";
import { useSession } from "../../session/session";
import { useAction } from "../../session/useAction";
import { Confirm } from "../../session/Confirm";
import { useFormats } from "../formats";
import { Loaded, useGuildQuery } from "../queries";
import type { SectionProps } from "../section";
import { responseText } from "./responses";

const STATUSES: readonly JoinRequestStatus[] = ["SUBMITTED", "APPROVED", "REJECTED"];

/** Who asks to join, with their answers: approves or rejects them. */
export default function JoinRequests({ guild }: SectionProps) {
  const text = useText();
  const { api } = useSession();
  const [status, setStatus] = useState<JoinRequestStatus>("SUBMITTED");
  const [rejecting, setRejecting] = useState<JoinRequest | null>(null);
  const [reason, setReason] = useState("");
  const action = useAction();
  const query = useGuildQuery(guild.id, `join requests ${status}`, () =>
    listJoinRequests(api, guild.id, status),
  );
  const approve = async (request: JoinRequest) => {
    await reviewJoinRequest(api, guild.id, request.id, "APPROVED", "");
    await query.refetch();
  };
  return (
    <div className="settings-block">
      <Select
        label={text("guildSettings.requests.status")}
        value={status}
        options={STATUSES.map((each) => [each, text(`guildSettings.requests.${each}`)])}
        onChange={setStatus}
      />
      <ErrorNotice error={action.error} />
      <Loaded query={query}>
        {(requests) => (
          <>
            {requests.length === 0 && (
              <p className="settings-empty">{text("guildSettings.requests.empty")}</p>
            )}
            {requests.map((request) => (
              <RequestCard
                key={request.id}
                request={request}
                isPending={action.pending}
                onApprove={() => void action.run(() => approve(request))}
                onReject={() => setRejecting(request)}
              />
            ))}
          </>
        )}
      </Loaded>
      {rejecting !== null && (
        <Confirm
          title={text("guildSettings.requests.reject")}
          question={text("guildSettings.requests.reject.question")}
          confirm={text("guildSettings.requests.reject")}
          onConfirm={async () => {
            await reviewJoinRequest(api, guild.id, rejecting.id, "REJECTED", reason);
            await query.refetch();
          }}
          onClose={() => {
            setRejecting(null);
            setReason("");
          }}
        >
          <TextField
            label={text("guildSettings.requests.reason")}
            value={reason}
            maxLength={160}
            onChange={setReason}
          />
        </Confirm>
      )}
    </div>
  );
}

interface RequestCardProps {
  request: JoinRequest;
  isPending: boolean;
  onApprove: () => void;
  onReject: () => void;
}

function RequestCard({ request, isPending, onApprove, onReject }: RequestCardProps) {
  const text = useText();
  const { moment } = useFormats();
  const user = request.user ?? null;
  const name = user?.global_name ?? user?.username ?? request.user_id;
  const words = { yes: text("guildSettings.audit.yes"), none: text("guildSettings.audit.none") };
  return (
    <section className="settings-card" aria-label={name}>
      <div className="settings-card-header">
        <span className="settings-link">
          <Avatar url={user === null ? null : avatarUrl(user, 36)} name={name} size={36} hueKey={user?.id} />
          <span className="settings-row-text">
            <strong>{name}</strong>
            <span>{moment(request.created_at)}</span>
          </span>
        </span>
        {request.application_status === "SUBMITTED" && (
          <span className="settings-row-actions">
            <Button kind="primary" isDisabled={isPending} onPress={onApprove}>
              {text("guildSettings.requests.approve")}
            </Button>
            <Button kind="danger" isDisabled={isPending} onPress={onReject}>
              {text("guildSettings.requests.reject")}
            </Button>
          </span>
        )}
      </div>
      <dl className="request-answers">
        {(request.form_responses ?? []).map((field, index) => (
          <div key={index}>
            <dt>{field.label}</dt>
            <dd>{responseText(field, words)}</dd>
          </div>
        ))}
      </dl>
      {request.rejection_reason !== null && (
        <p className="settings-count">
          {text("guildSettings.audit.reason", { reason: request.rejection_reason })}
        </p>
      )}
    </section>
  );
}
