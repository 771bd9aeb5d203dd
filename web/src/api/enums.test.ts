import * as api from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import {
  ApplicationCommandOptionType,
  ApplicationCommandType,
  ChannelType,
  ComponentType,
  EmbedType,
  MessageFlag,
  MessageType,
  OverwriteType,
  Permission,
} from "./enums";

describe("the enums", () => {
  it("have the values of the public description", () => {
    expect(api.ChannelType).toMatchObject(ChannelType);
    const { RadioGroup: _radio, CheckboxGroup: _group, Checkbox: _checkbox, ...published } = ComponentType;
    expect(api.ComponentType).toMatchObject(published);
    expect(api.EmbedType).toMatchObject(EmbedType);
    expect(api.MessageType).toMatchObject(MessageType);
    expect(api.ApplicationCommandType).toMatchObject(ApplicationCommandType);
    expect(api.ApplicationCommandOptionType).toMatchObject(ApplicationCommandOptionType);
    expect(api.MessageFlags).toMatchObject(MessageFlag);
    expect(api.OverwriteType).toMatchObject(OverwriteType);
    expect(api.PermissionFlagsBits).toMatchObject(Permission);
  });
});
