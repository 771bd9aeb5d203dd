import { Download } from "lucide-react";

import type { BackupCode } from "../../api/factors";
import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import "./factors.css";

/** Shows new backup codes, which the server does not show again, and offers them as a file. */
export function BackupCodes({ codes, onClose }: { codes: readonly BackupCode[]; onClose: () => void }) {
  const text = useText();
  const lines = codes.map(({ code }) => `${code.slice(0, 4)}-${code.slice(4)}`);
  const file = `data:text/plain;charset=utf-8,${encodeURIComponent(`${lines.join("\n")}\n`)}`;
  return (
    <Dialog title={text("factors.codes")} onClose={onClose}>
      <div className="stack">
        <p>{text("factors.codes.about")}</p>
        <ul className="backup-codes">
          {lines.map((line) => (
            <li key={line}>
              <code>{line}</code>
            </li>
          ))}
        </ul>
        <div className="preferences-save">
          <a className="button button-plain" href={file} download="moothall-backup-codes.txt">
            <Download size={16} aria-hidden="true" /> {text("factors.codes.download")}
          </a>
          <Button kind="primary" onPress={onClose}>
            {text("factors.codes.done")}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
