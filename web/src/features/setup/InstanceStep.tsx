import { useText } from "../../i18n/translate";
import { ImageField } from "../../ui/fields";
import { TextField } from "../../ui/TextField";
import { fieldError, useAction } from "../session/useAction";
import { useDraft } from "./draft";
import { useSaveSettings, valueOf, type StepProps } from "./settings";
import { StepForm } from "./StepForm";

const FIELDS = ["instance_name", "instance_icon"];

/** What the instance is called, and its picture. */
export default function InstanceStep({ settings, onDone }: StepProps) {
  const text = useText();
  const save = useSaveSettings();
  const action = useAction();
  const draft = useDraft(
    "instance",
    {
      name: valueOf(settings, "instance_name", ""),
      // A picture may be too large for what is kept of a draft: only the name stays.
      icon: valueOf<string | null>(settings, "instance_icon", null),
    },
    ["icon"],
  );
  const { name, icon } = draft.value;
  const submit = async () => {
    await save({
      instance_name: name.trim(),
      ...("icon" in draft.changes && { instance_icon: icon }),
    });
    draft.clear();
    onDone();
  };
  return (
    <StepForm
      about={text("setup.instance.about")}
      action={action}
      isDirty={draft.isDirty}
      shown={FIELDS}
      onSave={submit}
      onSkip={onDone}
    >
      <TextField
        label={text("setup.instance.name")}
        value={name}
        onChange={(typed) => draft.set("name", typed)}
        isRequired
        maxLength={64}
        error={fieldError(action.error, "instance_name")}
      />
      <ImageField
        label={text("setup.instance.icon")}
        hint={text("setup.instance.icon.hint")}
        shape="round"
        crops
        url={icon === null || icon.startsWith("data:") ? icon : `/instance-icons/${icon}.png?size=128`}
        onChange={(data) => draft.set("icon", data)}
        error={fieldError(action.error, "instance_icon")}
      />
    </StepForm>
  );
}
