import { Paperclip, X } from "lucide-react";
import { useState } from "react";
import { FileTrigger } from "react-aria-components";

import { Permission } from "../../api/enums";
import { startPost } from "../../api/threads";
import { useText } from "../../i18n/translate";
import { has } from "../../store/permissions";
import { putThread, setFirstMessages } from "../../store/threads";
import { Button, IconButton } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/TextField";
import { Content } from "../content/Content";
import { checkUploads } from "../attachments/uploads";
import { useUploadLimits } from "../attachments/useUploadLimits";
import { ActionForm } from "../session/ActionForm";
import { useSession } from "../session/session";
import { fieldError, useAction } from "../session/useAction";
import { useChannelPermissions } from "../session/usePermissions";
import { useOpenThread } from "../threads/useOpenThread";
import { TagPicker } from "../threads/TagPicker";
import type { Forum } from "./posts";

const REQUIRE_TAG = 16;
const MAX_FILES = 10;

/** Writes a post: title, tags, first message and files. */
export default function PostForm({ forum, onClose }: { forum: Forum; onClose: () => void }) {
  const text = useText();
  const { api, store } = useSession();
  const action = useAction();
  const open = useOpenThread();
  const permissions = useChannelPermissions(forum);
  const [name, setName] = useState("");
  const [content, setContent] = useState("");
  const [tags, setTags] = useState<readonly string[]>([]);
  const [files, setFiles] = useState<readonly File[]>([]);
  const [progress, setProgress] = useState<number | null>(null);
  const needsTag = ((forum.flags ?? 0) & REQUIRE_TAG) !== 0 && forum.available_tags.length > 0;
  const problem = checkUploads(
    files.map((file) => ({ file })),
    useUploadLimits(forum.guild_id ?? null),
  );
  const isWhole =
    problem === null &&
    name.trim() !== "" &&
    (content.trim() !== "" || files.length > 0) &&
    !(needsTag && tags.length === 0);
  const submit = async () => {
    const post = { name, applied_tags: tags, message: { content } };
    const { message, ...thread } = await startPost(api, forum.id, post, files, setProgress);
    store.update((state) => setFirstMessages(putThread(state, thread), [message]));
    onClose();
    open({ guildId: forum.guild_id ?? "", parentId: forum.id, threadId: thread.id });
  };
  return (
    <Dialog wide title={text("forum.post.new")} onClose={onClose}>
      <ActionForm
        action={action}
        onSubmit={() => void action.run(submit).then(() => setProgress(null))}
        confirm={text("forum.post.submit")}
        onCancel={onClose}
        isDisabled={!isWhole}
      >
        {forum.topic && (
          <details className="forum-guidelines" open>
            <summary>{text("forum.guidelines")}</summary>
            <Content content={forum.topic} guildId={forum.guild_id ?? null} />
          </details>
        )}
        <TextField
          label={text("forum.post.title")}
          value={name}
          onChange={setName}
          maxLength={100}
          isRequired
          autoFocus
          error={fieldError(action.error, "name")}
        />
        {forum.available_tags.length > 0 && (
          <>
            <TagPicker
              tags={forum.available_tags}
              value={tags}
              mayModerate={has(permissions, Permission.ManageThreads)}
              onChange={setTags}
            />
            {needsTag && <p className="field-hint">{text("forum.tags.required")}</p>}
          </>
        )}
        <TextField
          label={text("forum.post.message")}
          value={content}
          onChange={setContent}
          maxLength={2000}
          multiline
          error={fieldError(action.error, "message.content")}
        />
        {has(permissions, Permission.AttachFiles) && <FileList files={files} onChange={setFiles} />}
        {problem !== null && (
          <p role="alert" className="field-error">
            {text(problem.id, { ...problem.values })}
          </p>
        )}
        {progress !== null && <progress value={progress} max={1} aria-label={text("forum.post.uploading")} />}
      </ActionForm>
    </Dialog>
  );
}

function FileList({
  files,
  onChange,
}: {
  files: readonly File[];
  onChange: (files: readonly File[]) => void;
}) {
  const text = useText();
  return (
    <div className="forum-files">
      <FileTrigger
        allowsMultiple
        onSelect={(chosen) => onChange([...files, ...(chosen ?? [])].slice(0, MAX_FILES))}
      >
        <Button>
          <Paperclip size={16} aria-hidden="true" /> {text("composer.attach")}
        </Button>
      </FileTrigger>
      {files.length > 0 && (
        <ul className="composer-files">
          {files.map((file, index) => (
            <li key={`${index} ${file.name}`}>
              {file.name}
              <IconButton
                label={text("composer.removeFile", { name: file.name })}
                onPress={() => onChange(files.filter((_file, other) => other !== index))}
              >
                <X size={16} />
              </IconButton>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
