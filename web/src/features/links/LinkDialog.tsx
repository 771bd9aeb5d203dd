import { Translate, useText } from "../../i18n/translate";
import { visible } from "../../markdown/invisible";
import { DialogFooter } from "../../ui/DialogFooter";
import { Dialog } from "../../ui/Dialog";
import { useSession } from "../session/session";
import { trust } from "./trusted";
import "./links.css";

/** Shows where a link leads, before the first one of its host opens. */
export default function LinkDialog({ url, onClose }: { url: string; onClose: () => void }) {
  const text = useText();
  const { account } = useSession();
  const target = new URL(url);
  const confirm = () => {
    trust(account.userId, target);
    open(target, "_blank", "noopener,noreferrer");
    onClose();
  };
  return (
    <Dialog title={text("link.title")} onClose={onClose}>
      <p>
        <Translate id="link.about" values={{ host: <strong key="host">{target.host}</strong> }} />
      </p>
      <Address target={target} />
      {target.username !== "" && <p className="notice">{text("link.userinfo", { host: target.host })}</p>}
      <p className="field-hint">{text("link.remembered")}</p>
      <DialogFooter confirm={text("link.open")} onConfirm={confirm} onCancel={onClose} />
    </Dialog>
  );
}

/** A full address in which the host stands out. */
function Address({ target }: { target: URL }) {
  const [before = "", ...after] = target.href.split(target.host);
  return (
    <p className="link-address" dir="ltr">
      {before}
      <strong>{target.host}</strong>
      {visible(after.join(target.host))}
    </p>
  );
}
