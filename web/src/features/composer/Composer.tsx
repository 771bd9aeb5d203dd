import type { APIChannel, APIMessage, APIStickerItem } from "discord-api-types/v10";
import { AtSign, BarChart3, Paperclip, Plus, SendHorizontal, Smile, Timer, X } from "lucide-react";
import { useEffect, useRef, useState, type ClipboardEvent, type KeyboardEvent } from "react";
import { TextArea } from "react-aria-components";

import { Permission } from "../../api/enums";
import { triggerTyping } from "../../api/messages";
import { Translate, useText } from "../../i18n/translate";
import { channelPermissions, has } from "../../store/permissions";
import { displayName } from "../../store/selectors";
import { IconButton } from "../../ui/controls";
import { Menu, MenuItem } from "../../ui/Menu";
import { clockOf } from "../../ui/times";
import { Toggle } from "../../ui/Toggle";
import { loaded } from "../../ui/loaded";
import type { CommandLeaf } from "../commands/options";
import { useAppState, useSession } from "../session/session";
import { useDuration } from "../channels/durations";
import { useKeybinds } from "../keybinds/keybinds";
import { writingShortcutOf } from "../keybinds/shortcuts";
import { EmojiButton } from "../emojis/EmojiButton";
import { checkUploads, type Uploads } from "../attachments/uploads";
import { useUploadLimits } from "../attachments/useUploadLimits";
import { readDraft, writeDraft } from "./drafts";
import { sendMessage } from "./sending";
import { StickerButton } from "./StickerButton";
import { useMessageText } from "./useMessageText";
import { useSlowMode, type SlowMode } from "./useSlowMode";

const CommandForm = loaded(async () => ({ default: (await import("../commands/CommandForm")).CommandForm }));
const CompletionList = loaded(async () => ({ default: (await import("./CompletionList")).CompletionList }));
const PendingCommands = loaded(async () => ({
  default: (await import("../commands/PendingCommands")).PendingCommands,
}));
const PollForm = loaded(() => import("../polls/PollForm"));
const UploadTray = loaded(async () => ({ default: (await import("../attachments/UploadTray")).UploadTray }));

const MAX_LENGTH = 2000;
const TYPING_EVERY_MS = 8_000;

interface ComposerProps {
  channel: APIChannel;
  guildId: string | null;
  name: string;
  replyTo: APIMessage | null;
  onCancelReply: () => void;
  uploads: Uploads;
  onEditLast: () => void;
}

/** Writes messages and uses commands. Drafts stay on the device. */
export function Composer(props: ComposerProps) {
  const { channel, guildId, name, replyTo, onCancelReply, uploads, onEditLast } = props;
  const channelId = channel.id;
  const text = useText();
  const session = useSession();
  const [command, setCommand] = useState<CommandLeaf | null>(null);
  const keybinds = useKeybinds();
  const typedAt = useRef(0);
  const replyName = useAppState((state) => (replyTo ? displayName(state, replyTo.author, guildId) : ""));
  const hasPending = useAppState((state) =>
    Object.values(state.interactions).some((each) => each.command?.channelId === channelId),
  );
  const permissions = useAppState((state) => channelPermissions(state, channel, state.user?.id ?? ""));
  const mayAttach = has(permissions, Permission.AttachFiles);
  const slowMode = useSlowMode(channel);
  const [notifiesAuthor, setNotifiesAuthor] = useState(true);
  const limits = useUploadLimits(guildId);
  const onChange = (markup: string) => {
    writeDraft(channelId, markup);
    const now = Date.now();
    if (markup !== "" && !markup.startsWith("/") && now - typedAt.current > TYPING_EVERY_MS) {
      typedAt.current = now;
      void triggerTyping(session.api, channelId).catch(() => undefined);
    }
  };
  const [draft] = useState(() => readDraft(channelId));
  const editor = useMessageText(channel, draft, onChange, true);
  const { area, completion, listId, markup } = editor;
  // The API counts code points.
  const excess = Array.from(markup).length - MAX_LENGTH;
  const empty = markup.trim() === "" && uploads.list.length === 0;
  const problem = checkUploads(uploads.list, limits);
  const blocked = empty || excess > 0 || problem !== null || slowMode.left > 0;

  useEffect(() => area.current?.focus(), [area, channelId, replyTo, command]);

  const endReply = () => {
    setNotifiesAuthor(true);
    onCancelReply();
  };

  const send = () => {
    if (blocked) {
      return;
    }
    const content = markup.trim();
    void sendMessage(session, { channelId, content, uploads: uploads.list, replyTo, notifiesAuthor });
    editor.change("", 0);
    typedAt.current = 0;
    uploads.clear();
    endReply();
  };

  /** Stickers are sent at once; what is being written stays. */
  const sendSticker = (sticker: APIStickerItem) => {
    const stickers = [sticker];
    void sendMessage(session, { channelId, content: "", uploads: [], replyTo, notifiesAuthor, stickers });
    endReply();
  };

  const chooseCommand = (index: number) => {
    const chosen = completion.commands[index];
    if (chosen !== undefined) {
      editor.change("", 0);
      setCommand(chosen);
    }
  };

  /** A command that was typed to its end, with a space, is chosen. */
  const typeCommand = (value: string): boolean => {
    const typed = /^\/(.+) $/.exec(value)?.[1]?.toLowerCase();
    const index = completion.commands.findIndex((leaf) => leaf.title.toLowerCase() === typed);
    const isPrefix = completion.commands.some((leaf) =>
      leaf.title.toLowerCase().startsWith(`${typed ?? ""} `),
    );
    if (typed === undefined || index < 0 || isPrefix) {
      return false;
    }
    chooseCommand(index);
    return true;
  };

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (editor.onKeyDown(event, chooseCommand)) {
      return;
    }
    if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      // While the commands are being loaded, Enter must not send the name of one as a message.
      if (completion.trigger?.kind !== "command" || completion.commandStatus !== "loading") {
        send();
      }
    } else if (event.key === "Escape" && replyTo !== null) {
      event.preventDefault();
      endReply();
    } else if (editor.text === "" && writingShortcutOf(event, keybinds) === "editLast") {
      event.preventDefault();
      onEditLast();
    }
  };

  const onPaste = (event: ClipboardEvent) => {
    if (event.clipboardData.files.length > 0 && mayAttach) {
      event.preventDefault();
      uploads.add(event.clipboardData.files);
    }
  };

  const closeCommand = (restored: string) => {
    setCommand(null);
    editor.change(restored, restored.length);
  };

  const hasList =
    completion.trigger !== null &&
    (completion.trigger.kind === "command" || completion.completions.length > 0);
  return (
    <div className="composer">
      {/* Above everything of the composer, also the line that says whom a reply is for. */}
      {hasList && command === null && (
        <CompletionList
          id={listId}
          state={completion}
          onChoose={(index) =>
            completion.trigger?.kind === "command" ? chooseCommand(index) : editor.complete(index)
          }
        />
      )}
      {hasPending && <PendingCommands channelId={channelId} />}
      {replyTo !== null && (
        <div className="composer-reply">
          <span>
            <Translate
              id="composer.replying"
              values={{ name: replyName, b: (chunks) => <strong key="name">{chunks}</strong> }}
            />
          </span>
          <span className="composer-reply-actions">
            {replyTo.author.id !== session.account.userId && (
              <Toggle
                className="composer-mention"
                isSelected={notifiesAuthor}
                onChange={setNotifiesAuthor}
                label={text("composer.mentions.hint", { name: replyName })}
              >
                <AtSign size={14} aria-hidden="true" /> {text("composer.mentions")}
              </Toggle>
            )}
            <IconButton label={text("composer.cancelReply")} onPress={endReply}>
              <X size={16} />
            </IconButton>
          </span>
        </div>
      )}
      {uploads.list.length > 0 && command === null && <UploadTray uploads={uploads} maxSize={limits.file} />}
      {command !== null ? (
        <CommandForm
          key={command.key}
          leaf={command}
          channel={channel}
          maxFileSize={limits.file}
          onDone={() => closeCommand("")}
          onCancel={() => closeCommand(`/${command.title}`)}
        />
      ) : (
        <div className="composer-row">
          <AddButton
            channel={channel}
            mayAttach={mayAttach}
            mayPoll={has(permissions, Permission.SendPolls)}
            onFiles={uploads.add}
          />
          <div className="composer-field">
            <TextArea
              ref={area}
              className="composer-input"
              rows={1}
              value={editor.text}
              placeholder=" "
              aria-label={text("composer.label", { name })}
              aria-invalid={excess > 0}
              aria-autocomplete="list"
              aria-controls={hasList ? listId : undefined}
              aria-activedescendant={hasList ? `${listId}-${completion.active}` : undefined}
              dir="auto"
              onChange={(event) => {
                const { value, selectionStart } = event.target;
                if (!typeCommand(value)) {
                  editor.change(value, selectionStart);
                }
              }}
              onSelect={editor.onSelect}
              onKeyDown={onKeyDown}
              onPaste={onPaste}
            />
            {editor.text === "" && <Placeholder>{text("composer.label", { name })}</Placeholder>}
          </div>
          <EmojiButton
            label={text("composer.emoji")}
            icon={<Smile size={18} />}
            channel={channel}
            onSelect={({ text: inserted, reference }) => editor.insert(inserted, reference)}
          />
          <StickerButton channel={channel} onSelect={sendSticker} />
          <IconButton label={text("composer.send")} isDisabled={blocked} onPress={send}>
            <SendHorizontal size={18} />
          </IconButton>
        </div>
      )}
      <SlowModeNote slowMode={slowMode} />
      {excess > 0 && (
        <p role="alert" className="field-error">
          {text("composer.tooLong", { count: excess })}
        </p>
      )}
      {problem !== null && command === null && (
        <p role="alert" className="field-error">
          {text(problem.id, { ...problem.values })}
        </p>
      )}
    </div>
  );
}

interface AddButtonProps {
  channel: APIChannel;
  mayAttach: boolean;
  mayPoll: boolean;
  onFiles: (files: FileList | null) => void;
}

/** Adds what is not written: files or a poll. A menu where there are both. */
function AddButton({ channel, mayAttach, mayPoll, onFiles }: AddButtonProps) {
  const text = useText();
  const input = useRef<HTMLInputElement>(null);
  const [polling, setPolling] = useState(false);
  const attach = () => input.current?.click();
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          onFiles(event.target.files);
          event.target.value = "";
        }}
      />
      {mayAttach && mayPoll ? (
        <Menu
          label={text("composer.add")}
          trigger={
            <IconButton label={text("composer.add")}>
              <Plus size={18} />
            </IconButton>
          }
        >
          <MenuItem onAction={attach}>{text("composer.attach")}</MenuItem>
          <MenuItem onAction={() => setPolling(true)}>{text("composer.poll")}</MenuItem>
        </Menu>
      ) : mayAttach ? (
        <IconButton label={text("composer.attach")} onPress={attach}>
          <Paperclip size={18} />
        </IconButton>
      ) : mayPoll ? (
        <IconButton label={text("composer.poll")} onPress={() => setPolling(true)}>
          <BarChart3 size={18} />
        </IconButton>
      ) : null}
      {polling && <PollForm channel={channel} onClose={() => setPolling(false)} />}
    </>
  );
}

/** Says how long members wait between messages, and how long it still takes. */
function SlowModeNote({ slowMode: { seconds, left } }: { slowMode: SlowMode }) {
  const text = useText();
  const duration = useDuration();
  return (
    seconds > 0 && (
      <p className="composer-slow">
        <Timer size={14} aria-hidden="true" />
        {left > 0
          ? text("composer.slowMode.wait", { time: clockOf(left) })
          : text("composer.slowMode", { duration: duration(seconds) })}
      </p>
    )
  );
}

/** Browsers cut the placeholder of a text area off without an ellipsis. */
function Placeholder({ children }: { children: string }) {
  return (
    <span className="composer-placeholder" aria-hidden="true">
      {children}
    </span>
  );
}
