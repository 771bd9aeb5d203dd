import type { APIChannel, APIStageInstance } from "discord-api-types/v10";
import { Radio } from "lucide-react";
import { useState } from "react";

import { Permission } from "../../api/enums";
import { endStage, modifyStage, startStage } from "../../api/voice";
import { useText } from "../../i18n/translate";
import { has } from "../../store/permissions";
import { Button, Dialog, TextField } from "../../ui/controls";
import { Switch } from "../../ui/fields";
import { ActionError } from "../session/ActionError";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { useChannelPermissions } from "../session/usePermissions";

const MODERATES = Permission.ManageChannels | Permission.MuteMembers | Permission.MoveMembers;

type Open = "topic" | "end" | null;

/** The topic of a stage; moderators start, change and end it. */
export function StageControls({ channel }: { channel: APIChannel }) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const stage = useAppState((state) => state.stages[channel.id]);
  const permissions = useChannelPermissions(channel);
  const moderates = has(permissions, MODERATES);
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  const end = async () => {
    if (await action.run(() => endStage(api, channel.id))) {
      close();
    }
  };
  return (
    <div className="voice-status">
      {stage === undefined ? (
        <span className="field-hint">{text("stage.none")}</span>
      ) : (
        <span className="stage-topic">
          <Radio size={16} aria-label={text("stage.live")} /> {stage.topic}
        </span>
      )}
      {moderates && (
        <Button onPress={() => setOpen("topic")}>
          {text(stage === undefined ? "stage.start" : "stage.edit")}
        </Button>
      )}
      {moderates && stage !== undefined && (
        <Button kind="danger" onPress={() => setOpen("end")}>
          {text("stage.end")}
        </Button>
      )}
      {open === "topic" && (
        <TopicDialog
          channelId={channel.id}
          stage={stage}
          mayNotify={has(permissions, Permission.MentionEveryone)}
          onClose={close}
        />
      )}
      {open === "end" && (
        <Dialog title={text("stage.end")} onClose={close}>
          <p>{text("stage.end.question")}</p>
          <ActionError action={action} />
          <div className="dialog-actions">
            <Button onPress={close}>{text("common.cancel")}</Button>
            <Button kind="danger" isDisabled={action.pending} onPress={() => void end()}>
              {text("stage.end")}
            </Button>
          </div>
        </Dialog>
      )}
    </div>
  );
}

interface TopicDialogProps {
  channelId: string;
  stage: APIStageInstance | undefined;
  mayNotify: boolean;
  onClose: () => void;
}

function TopicDialog({ channelId, stage, mayNotify, onClose }: TopicDialogProps) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const [topic, setTopic] = useState(stage?.topic ?? "");
  const [notifies, setNotifies] = useState(false);
  const save = async () => {
    const saved = await action.run(() =>
      stage === undefined
        ? startStage(api, { channel_id: channelId, topic, send_start_notification: notifies })
        : modifyStage(api, channelId, topic),
    );
    if (saved) {
      onClose();
    }
  };
  return (
    <Dialog title={text(stage === undefined ? "stage.start" : "stage.edit")} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <TextField
          label={text("stage.topic")}
          value={topic}
          onChange={setTopic}
          maxLength={120}
          isRequired
          autoFocus
        />
        {stage === undefined && mayNotify && (
          <Switch label={text("stage.notify")} isSelected={notifies} onChange={setNotifies} />
        )}
        <ActionError action={action} />
        <div className="dialog-actions">
          <Button onPress={onClose}>{text("common.cancel")}</Button>
          <Button type="submit" kind="primary" isDisabled={action.pending || topic.trim() === ""}>
            {text(stage === undefined ? "stage.start" : "common.save")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
