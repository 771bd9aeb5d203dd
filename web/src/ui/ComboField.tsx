import { ChevronDown } from "lucide-react";
import type { ReactNode } from "react";
import {
  Button as AriaButton,
  ComboBox,
  FieldError,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Text,
} from "react-aria-components";

import "./combo.css";

/** A value that can be chosen. */
export interface ComboItem {
  id: string;
  label: string;
  detail?: string;
  icon?: ReactNode;
}

interface ComboFieldProps {
  label: string;
  hint?: string;
  /** What can be chosen now: the caller filters by the text. */
  items: readonly ComboItem[];
  text: string;
  onText: (text: string) => void;
  selectedId: string | null;
  onSelect: (item: ComboItem | null) => void;
  /** Shown where nothing can be chosen, such as while choices are being loaded. */
  emptyText: string;
  isRequired?: boolean;
  /** Whether texts that are no item may stay. */
  allowsOther?: boolean;
  autoFocus?: boolean;
  error?: string | undefined;
  placeholder?: string;
  onFocus?: () => void;
}

/** A text field with a list of values to choose from. */
export function ComboField(props: ComboFieldProps) {
  const { label, items, text, onText, selectedId, onSelect, emptyText, error } = props;
  return (
    <ComboBox
      className="field combo"
      items={items}
      inputValue={text}
      onInputChange={onText}
      selectedKey={selectedId}
      onSelectionChange={(key) => onSelect(items.find((item) => item.id === key) ?? null)}
      menuTrigger="focus"
      allowsEmptyCollection
      allowsCustomValue={props.allowsOther ?? false}
      isInvalid={error !== undefined}
      validationBehavior="aria"
      isRequired={props.isRequired ?? false}
      {...(props.onFocus && { onFocus: props.onFocus })}
    >
      <Label>{label}</Label>
      <div className="combo-row">
        {/* The first field of a form that was just opened has the focus. */}
        <Input dir="auto" autoFocus={props.autoFocus ?? false} placeholder={props.placeholder ?? ""} />
        <AriaButton className="combo-button">
          <ChevronDown size={16} aria-hidden="true" />
        </AriaButton>
      </div>
      {props.hint !== undefined && (
        <Text slot="description" className="field-hint">
          {props.hint}
        </Text>
      )}
      <FieldError className="field-error">{error}</FieldError>
      <Popover className="menu-popover combo-popover">
        <ListBox className="combo-list" renderEmptyState={() => <p className="combo-empty">{emptyText}</p>}>
          {(item: ComboItem) => (
            <ListBoxItem id={item.id} textValue={item.label} className="menu-item">
              {item.icon}
              <Text slot="label">{item.label}</Text>
              {item.detail !== undefined && (
                <Text slot="description" className="field-hint">
                  {item.detail}
                </Text>
              )}
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}
