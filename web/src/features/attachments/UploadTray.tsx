import { EyeOff, FileText, Pencil, X } from "lucide-react";
import { useState } from "react";
import { Form, ToggleButton } from "react-aria-components";

import { useText } from "../../i18n/translate";
import { DialogFooter } from "../../ui/DialogFooter";
import { IconButton } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/TextField";
import { formatSize } from "./formatSize";
import { MAX_DESCRIPTION, MAX_FILES, type Upload, type Uploads } from "./uploads";
import "./uploads.css";

/** The files of the next message: each can be described, hidden as a spoiler, or removed. */
export function UploadTray({ uploads, maxSize }: { uploads: Uploads; maxSize: number }) {
  const text = useText();
  return (
    <>
      <ul className="uploads" aria-label={text("upload.list")}>
        {uploads.list.map((upload) => (
          <UploadCard key={upload.key} upload={upload} uploads={uploads} maxSize={maxSize} />
        ))}
      </ul>
      {uploads.excess > 0 && (
        <p role="alert" className="field-error">
          {text("upload.problem.count", { maximum: MAX_FILES, count: uploads.excess })}
        </p>
      )}
    </>
  );
}

function UploadCard({ upload, uploads, maxSize }: { upload: Upload; uploads: Uploads; maxSize: number }) {
  const text = useText();
  const [describing, setDescribing] = useState(false);
  const [description, setDescription] = useState(upload.description);
  const { name, size } = upload.file;
  const refused = size > maxSize || size === 0;
  return (
    <li className={refused ? "upload upload-refused" : "upload"}>
      <div className="upload-preview" data-spoiler={upload.spoiler}>
        {upload.preview === null ? (
          <FileText size={36} aria-hidden="true" />
        ) : (
          <img src={upload.preview} alt={upload.description} />
        )}
        {upload.spoiler && <span className="upload-spoiler">{text("upload.spoiler.tag")}</span>}
      </div>
      <p className="upload-name" title={name}>
        {name}
      </p>
      <p className={refused ? "field-error" : "field-hint"}>{formatSize(size)}</p>
      <div className="upload-actions">
        <ToggleButton
          className="icon-button"
          aria-label={text("upload.spoiler", { name })}
          isSelected={upload.spoiler}
          onChange={(spoiler) => uploads.change(upload.key, { spoiler })}
        >
          <EyeOff size={16} />
        </ToggleButton>
        <IconButton label={text("upload.describe", { name })} onPress={() => setDescribing(true)}>
          <Pencil size={16} />
        </IconButton>
        <IconButton label={text("composer.removeFile", { name })} onPress={() => uploads.remove(upload.key)}>
          <X size={16} />
        </IconButton>
      </div>
      {describing && (
        <Dialog title={text("upload.describe.title")} onClose={() => setDescribing(false)}>
          <Form
            className="stack"
            onSubmit={(event) => {
              event.preventDefault();
              uploads.change(upload.key, { description: description.trim() });
              setDescribing(false);
            }}
          >
            {upload.preview !== null && <img className="upload-described" src={upload.preview} alt="" />}
            <TextField
              label={text("upload.describe.label")}
              hint={text("upload.describe.hint")}
              value={description}
              onChange={setDescription}
              maxLength={MAX_DESCRIPTION}
              multiline
              autoFocus
            />
            <DialogFooter confirm={text("common.save")} onCancel={() => setDescribing(false)} />
          </Form>
        </Dialog>
      )}
    </li>
  );
}
