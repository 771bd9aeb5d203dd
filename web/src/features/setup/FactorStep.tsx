import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { useAppState } from "../session/session";
import { TwoFactors } from "../settings/TwoFactors";
import type { StepProps } from "./settings";

/** The operator's second factor. */
export default function FactorStep({ onDone }: StepProps) {
  const text = useText();
  const isOn = useAppState((state) => state.user?.mfa_enabled === true);
  return (
    <div className="settings-form">
      <p>{text("setup.factor.about")}</p>
      <TwoFactors />
      <div className="setup-actions">
        <Button kind={isOn ? "primary" : "plain"} onPress={onDone}>
          {text(isOn ? "setup.next" : "setup.later")}
        </Button>
      </div>
    </div>
  );
}
