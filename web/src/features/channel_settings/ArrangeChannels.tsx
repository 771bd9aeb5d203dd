import { GripVertical } from "lucide-react";
import { useMemo } from "react";
import { Button as AriaButton, GridList, GridListItem, useDragAndDrop } from "react-aria-components";

import { modifyChannelPositions } from "../../api/channels";
import { ChannelType } from "../../api/enums";
import { useText } from "../../i18n/translate";
import { channelName, visibleChannelGroups } from "../../store/selectors";
import type { GuildState } from "../../store/state";
import { Button } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { WithChannelTexts } from "../../i18n/WithChannelTexts";
import { ErrorNotice } from "../session/ErrorNotice";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { ChannelIcon } from "../channels/ChannelIcon";
import { moveChannel, orderOf, positionChanges } from "./ordering";
import "../channels/channels.css";

/** Sorts channels and moves them between categories, by dragging or with the keyboard. */
export default function ArrangeChannels({ guild, onClose }: { guild: GuildState; onClose: () => void }) {
  return (
    <WithChannelTexts>
      <Arrange guild={guild} onClose={onClose} />
    </WithChannelTexts>
  );
}

function Arrange({ guild, onClose }: { guild: GuildState; onClose: () => void }) {
  const text = useText();
  const { api, store } = useSession();
  const action = useAction();
  const channels = useAppState((state) => state.channels);
  const order = useMemo(
    () => orderOf(visibleChannelGroups(store.state, guild.id)),
    // The order depends on the channels.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [store, guild.id, channels],
  );
  const move = (id: string, targetId: string, side: "before" | "after") => {
    const changes = positionChanges(moveChannel(order, id, targetId, side));
    if (changes.length > 0) {
      void action.run(() => modifyChannelPositions(api, guild.id, changes));
    }
  };
  const { dragAndDropHooks } = useDragAndDrop({
    getItems: (keys) => [...keys].map((key) => ({ "text/plain": String(key) })),
    onReorder: ({ keys, target }) => {
      const [id] = keys;
      if (id !== undefined && target.dropPosition !== "on") {
        move(String(id), String(target.key), target.dropPosition);
      }
    },
    isDisabled: action.pending,
  });
  return (
    <Dialog title={text("channel.arrange")} onClose={onClose}>
      <p className="field-hint">{text("channel.arrange.hint")}</p>
      <GridList
        className="arrange"
        aria-label={text("channel.arrange")}
        selectionMode="single"
        selectionBehavior="replace"
        dragAndDropHooks={dragAndDropHooks}
        items={order}
      >
        {(channel) => {
          const name = channelName(store.state, channel);
          const isCategory = channel.type === ChannelType.GuildCategory;
          return (
            <GridListItem
              id={channel.id}
              textValue={name}
              className={isCategory ? "arrange-row arrange-category" : "arrange-row"}
            >
              <AriaButton
                slot="drag"
                className="icon-button"
                aria-label={text("channel.arrange.move", { name })}
              >
                <GripVertical size={16} />
              </AriaButton>
              {!isCategory && <ChannelIcon type={channel.type} />}
              <span>{name}</span>
            </GridListItem>
          );
        }}
      </GridList>
      <ErrorNotice error={action.error} />
      <div className="dialog-actions">
        <Button kind="primary" onPress={onClose}>
          {text("common.close")}
        </Button>
      </div>
    </Dialog>
  );
}
