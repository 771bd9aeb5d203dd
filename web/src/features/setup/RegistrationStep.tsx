import type { MessageId } from "../../i18n/messages";
import { useText } from "../../i18n/translate";
import { Select } from "../../ui/Select";
import { TextField } from "../../ui/TextField";
import { fieldError, useAction } from "../session/useAction";
import { useDraft } from "./draft";
import { useSaveSettings, valueOf, type StepProps } from "./settings";
import { StepForm } from "./StepForm";

const CHOICES = ["open", "token", "domain", "approval", "closed"] as const;
const FIELDS = ["registration", "registration_domains"];

/** Who may register an account. */
export default function RegistrationStep({ settings, onDone }: StepProps) {
  const text = useText();
  const save = useSaveSettings();
  const action = useAction();
  const draft = useDraft("registration", {
    registration: valueOf<(typeof CHOICES)[number]>(settings, "registration", "open"),
    domains: valueOf<string[]>(settings, "registration_domains", []).join("\n"),
  });
  const { registration, domains } = draft.value;
  const submit = async () => {
    const listed = domains.split(/[\s,]+/).filter((domain) => domain !== "");
    await save({ registration, ...(registration === "domain" && { registration_domains: listed }) });
    draft.clear();
    onDone();
  };
  return (
    <StepForm
      about={text("setup.registration.about")}
      action={action}
      isDirty={draft.isDirty}
      shown={FIELDS}
      onSave={submit}
      onSkip={onDone}
    >
      <Select
        label={text("admin.setting.registration")}
        value={registration}
        options={CHOICES.map((choice) => [choice, text(`admin.choice.${choice}` as MessageId)] as const)}
        onChange={(chosen) => draft.set("registration", chosen)}
        error={fieldError(action.error, "registration")}
      />
      {registration === "domain" && (
        <TextField
          label={text("admin.setting.registration_domains")}
          hint={text("admin.setting.lines")}
          value={domains}
          onChange={(typed) => draft.set("domains", typed)}
          multiline
          error={fieldError(action.error, "registration_domains")}
        />
      )}
    </StepForm>
  );
}
