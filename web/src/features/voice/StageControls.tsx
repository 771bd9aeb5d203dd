import type { APIChannel, APIStageInstance } from "discord-api-types/v10";
import { Radio } from "lucide-react";
import { useState } from "react";

import { Permission } from "../../api/enums";
import { endStage, modifyStage, startStage } from "../../api/voice";
import { useText } from "../../i18n/translate";
import { has } from "../../store/permissions";
import { DialogFooter } from "../../ui/DialogFooter";
import { Button } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/TextField";
import { Switch } from "../../ui/fields";
import { Confirm } from "../session/Confirm";
import { ErrorNotice } from "../session/ErrorNotice";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { useChannelPermissions } from "../session/usePermissions";

const MODERATES = Permission.ManageChannels | Permission.MuteMembers | Permission.MoveMembers;

type Open = "topic" | "end" | null;

/** The topic of a stage; moderators start, change and end it. */
export function StageControls({ channel }: { channel: APIChannel }) {
  const text = useText();
  const { api } = useSession();
  const stage = useAppState((state) => state.stages[channel.id]);
  const permissions = useChannelPermissions(channel);
  const moderates = has(permissions, MODERATES);
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
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
        <Confirm
          title={text("stage.end")}
          question={text("stage.end.question")}
          confirm={text("stage.end")}
          onConfirm={() => endStage(api, channel.id)}
          onClose={close}
        />
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
        <ErrorNotice error={action.error} />
        <DialogFooter
          confirm={text(stage === undefined ? "stage.start" : "common.save")}
          isDisabled={action.pending || topic.trim() === ""}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}
