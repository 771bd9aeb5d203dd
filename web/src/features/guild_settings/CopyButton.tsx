import { Check, Copy } from "lucide-react";
import { useState } from "react";

import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";

/** Copies a text to the clipboard, and says so. */
export function CopyButton({ label, value }: { label: string; value: string }) {
  const text = useText();
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(value);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  };
  return (
    <>
      <Button onPress={() => void copy()}>
        {copied ? <Check size={16} aria-hidden="true" /> : <Copy size={16} aria-hidden="true" />}
        {copied ? text("common.copied") : label}
      </Button>
      <span role="status" className="visually-hidden">
        {copied && text("common.copied")}
      </span>
    </>
  );
}
