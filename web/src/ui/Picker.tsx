import { ChevronDown, X } from "lucide-react";
import { useId, type ReactNode } from "react";
import {
  Autocomplete,
  Button as AriaButton,
  Dialog,
  DialogTrigger,
  Input,
  ListBox,
  ListBoxItem,
  Popover,
  SearchField as AriaSearchField,
  useFilter,
  type Selection,
} from "react-aria-components";

import { useText } from "../i18n/translate";
import { FieldNotes, type FieldProps } from "./FieldMessages";
import { LongList } from "./LongList";
import "./fields.css";

const MAX_WITHOUT_SCROLLING = 20;

export interface PickerOption {
  id: string;
  name: string;
  /** What it is found by besides its name. */
  keywords?: string;
  /** Drawn before the name. */
  icon?: ReactNode;
  isDisabled?: boolean;
}

interface PickerProps extends FieldProps {
  options: readonly PickerOption[];
  value: readonly string[];
  onChange: (value: string[]) => void;
  max?: number;
  /** Shown while nothing is chosen. */
  placeholder?: string;
  /** Called with what is searched, where the options are only those that are known so far. */
  onSearch?: (query: string) => void;
}

/** Any number of values: shown as tags, chosen from a list with search. */
export function Picker(props: PickerProps) {
  const { options, value, onChange, max, placeholder, isDisabled, onSearch, ...field } = props;
  const text = useText();
  const id = useId();
  const { contains } = useFilter({ sensitivity: "base" });
  const chosen = value.map(
    (each): PickerOption => options.find((option) => option.id === each) ?? { id: each, name: each },
  );
  const change = (selection: Selection) => {
    const ids = selection === "all" ? options.map((option) => option.id) : [...selection].map(String);
    if (max === undefined || ids.length <= max) {
      onChange(ids);
    }
  };
  const list = (
    <ListBox
      aria-label={field.label}
      className="picker-list"
      selectionMode="multiple"
      escapeKeyBehavior="none"
      selectedKeys={value}
      disabledKeys={options.filter((option) => option.isDisabled).map((option) => option.id)}
      onSelectionChange={change}
      items={options}
      renderEmptyState={() => <span className="picker-empty">{text("field.picker.none")}</span>}
    >
      {(option) => (
        <ListBoxItem
          id={option.id}
          textValue={`${option.name} ${option.keywords ?? ""}`.trimEnd()}
          className="menu-item picker-item"
        >
          {option.icon}
          {option.name}
        </ListBoxItem>
      )}
    </ListBox>
  );
  return (
    <div className="field" role="group" aria-labelledby={`${id}-label`}>
      <span id={`${id}-label`} className="field-label">
        {field.label}
      </span>
      <div className="picker">
        {chosen.length === 0 && placeholder !== undefined && (
          <span className="field-hint">{placeholder}</span>
        )}
        {chosen.map((option) => (
          <span key={option.id} className="picker-tag">
            {option.icon}
            {option.name}
            <AriaButton
              className="picker-remove"
              aria-label={text("field.picker.remove", { name: option.name })}
              isDisabled={isDisabled ?? false}
              onPress={() => onChange(value.filter((each) => each !== option.id))}
            >
              <X size={13} aria-hidden="true" />
            </AriaButton>
          </span>
        ))}
        <DialogTrigger>
          <AriaButton
            className="picker-add"
            aria-label={text("field.picker.choose", { name: field.label })}
            isDisabled={isDisabled ?? false}
          >
            {text("field.picker.add")} <ChevronDown size={14} aria-hidden="true" />
          </AriaButton>
          <Popover className="menu-popover" placement="bottom start">
            <Dialog aria-label={field.label} className="picker-dialog">
              <Autocomplete filter={contains} {...(onSearch && { onInputChange: onSearch })}>
                <AriaSearchField aria-label={text("field.picker.search")} className="search-field" autoFocus>
                  <Input placeholder={text("field.picker.search")} />
                </AriaSearchField>
                {options.length > MAX_WITHOUT_SCROLLING ? <LongList>{list}</LongList> : list}
              </Autocomplete>
            </Dialog>
          </Popover>
        </DialogTrigger>
      </div>
      <FieldNotes id={id} hint={field.hint} error={field.error} />
    </div>
  );
}
